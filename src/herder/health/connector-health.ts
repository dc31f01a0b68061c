import { parseOptions } from '../../config/parse.ts';
import { healthOptions } from '../../config/health-options.ts';
import type { ConnectorDirectory, ConnectorStatusInfo } from '../connector-directory.ts';
import { judge, type Judgement, type TaskFigures, type Thresholds } from './verdict.ts';
import type { TaskFiguresWatch } from './task-figures.ts';

/** `GET /connectors/{connector}/health`. */
export interface HealthView extends Judgement {
  readonly name: string;
  readonly type: ConnectorStatusInfo['type'];
  /** ISO 8601: since when the verdict is this one, as far as this worker knows. */
  readonly since: string;
  readonly tasks: readonly TaskFigures[];
  /** Workers that have tasks of the connector and did not answer. */
  readonly silentWorkers: readonly string[];
}

/** Asks another worker for the figures of its tasks of a connector; rejects when it does not answer in time. */
export type AskWorker = (worker: string, connector: string) => Promise<readonly TaskFigures[]>;

interface HealthDependencies {
  readonly directory: ConnectorDirectory;
  readonly workerId: string;
  readonly figures: TaskFiguresWatch;
}

/** The verdict on each connector, from the figures of all its workers. */
export class ConnectorHealth {
  readonly #dependencies: HealthDependencies;
  readonly #seen = new Map<string, { readonly verdict: string; readonly sinceMs: number }>();

  constructor(dependencies: HealthDependencies) {
    this.#dependencies = dependencies;
  }

  /** The figures of the tasks that this worker has. Throws a RequestError 404 for an unknown connector. */
  async ownFigures(name: string): Promise<readonly TaskFigures[]> {
    const { directory, figures, workerId } = this.#dependencies;
    const own = directory.status(name).tasks.filter(([, status]) => status.workerId === workerId);
    return figures.figures(own.map(([task, status]) => [{ connector: name, task }, status] as const));
  }

  /** Throws a RequestError 404 for an unknown connector. */
  async view(name: string, ask: AskWorker): Promise<HealthView> {
    const { directory, workerId } = this.#dependencies;
    const { config } = directory.require(name);
    const status = directory.status(name);
    const others = [...new Set(status.tasks.map(([, task]) => task.workerId))].filter((worker) => worker !== workerId);
    const asked = await Promise.allSettled([this.ownFigures(name), ...others.map((worker) => ask(worker, name))]);
    const found = new Map(
      asked.flatMap((each) => (each.status === 'fulfilled' ? each.value : [])).map((task) => [task.task, task]),
    );
    const silentWorkers = others.filter((_, index) => asked[index + 1]?.status === 'rejected');
    const tasks = status.tasks.map(([task, each]) => found.get(task) ?? unknownFigures(task, each));
    const { state, trace } = status.connector;
    const withTraces = tasks.map((task) => ({
      ...task,
      trace: directory.traceOf({ connector: name, task: task.task }),
    }));
    const judgement = judge(
      { type: status.type, state, trace, tasks: withTraces, silentWorkers },
      thresholdsOf(config),
    );
    const since = this.#since(name, judgement, tasks);
    return { name, type: status.type, ...judgement, since: new Date(since).toISOString(), tasks, silentWorkers };
  }

  #since(name: string, { verdict }: Judgement, tasks: readonly TaskFigures[]): number {
    const seen = this.#seen.get(name);
    if (seen?.verdict === verdict) return seen.sinceMs;
    const waited = verdict === 'STALLED' ? Math.max(0, ...tasks.map(({ waitedMs }) => waitedMs)) : 0;
    const sinceMs = Date.now() - waited;
    for (const known of this.#seen.keys()) {
      if (!this.#dependencies.directory.names().includes(known)) this.#seen.delete(known);
    }
    this.#seen.set(name, { verdict, sinceMs });
    return sinceMs;
  }
}

/** Of a connector; what is not valid has been refused before. */
function thresholdsOf(config: Readonly<Record<string, string>>): Thresholds {
  const options = parseOptions(healthOptions, config);
  return {
    stallAfterMs: Number(options['stall.after.ms']),
    degradedRate: options['degraded.rate'],
    laggingRecords: Number(options['lagging.records']),
  };
}

function unknownFigures(
  task: number,
  { state, workerId }: { readonly state: string; readonly workerId: string },
): TaskFigures {
  return {
    task,
    state,
    worker: workerId,
    thread: null,
    partitions: [],
    lag: null,
    waiting: 0,
    lastDeliveredAt: null,
    waitedMs: 0,
    retries: 0,
    deadLettersPerMinute: 0,
    missingTopics: [],
    cause: null,
  };
}
