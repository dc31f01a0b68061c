import { setImmediate as nextTurn } from 'node:timers/promises';
import { taskText } from '../../connect/task-assignment.ts';
import type { TaskReport } from '../../connect/hosting/task-hosting.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import type { ConnectorDirectory, ConnectorStatusInfo } from '../../herder/connector-directory.ts';
import type { Status } from '../../herder/stores/status-store.ts';
import type { HerderListener } from '../../herder/herder-listener.ts';
import type { AutomaticRestarts } from '../restarts/automatic-restarts.ts';
import type { RestartView } from '../restarts/restart-view.ts';
import { READING, type CommittedLag, type CommittedLags } from './committed-lags.ts';
import type { TaskFiguresWatch } from './task-figures.ts';
import {
  SilentWorkers,
  type AskWorker,
  type Gathered,
  type PlacedFigures,
  type WorkerFigures,
} from './gathered-figures.ts';
import { thresholdsOf } from './thresholds.ts';
import { VerdictTimes } from './verdict-times.ts';
import { judge, type Judgement, type TaskFigures } from './verdict.ts';
import { VERDICTS, type Verdict } from './verdicts.ts';

/** `GET /connectors/{connector}/health`. */
export interface HealthView extends Judgement {
  readonly name: string;
  readonly type: ConnectorState['type'];
  /** ISO 8601: since when the connector has this verdict, as far as this worker knows. */
  readonly since: string;
  /** The last verdicts and since when (milliseconds since the epoch), the oldest first, as far as this worker knows. */
  readonly verdicts: readonly (readonly [verdict: Verdict, sinceMs: number])[];
  /** Undelivered records of a sink; `null`: unknown. */
  readonly lag: number | null;
  readonly tasks: readonly TaskFigures[];
  /** Workers that have tasks of the connector and did not answer. */
  readonly silentWorkers: readonly string[];
  /** Restart states of the failed connector instance and the failed tasks; that of the instance comes first. */
  readonly restarts: readonly RestartView[];
}

/** `GET /health?connectors`. */
export interface HealthSummary {
  /** Number of connectors by verdict. */
  readonly connectors: Readonly<Record<Verdict, number>>;
  /** Connectors that need attention, the worst first. */
  readonly attention: readonly Pick<HealthView, 'name' | 'verdict' | 'sentence' | 'since'>[];
  readonly silentWorkers: readonly string[];
}

/** The states of Connect, and `STARTING`. */
type TaskState = Pick<Status, 'workerId'> & { readonly state: Status['state'] | 'STARTING' };

interface ConnectorState extends Omit<ConnectorStatusInfo, 'tasks'> {
  readonly tasks: readonly (readonly [number, TaskState])[];
  /** Whether other workers have further tasks of the connector. */
  readonly isPartial?: boolean;
}

interface HealthDependencies {
  readonly directory: ConnectorDirectory;
  readonly workerId: string;
  readonly figures: TaskFiguresWatch;
  readonly committed: CommittedLags;
  readonly secrets: Pick<SecretMask, 'hide'>;
  /** The properties of the worker, with the thresholds for connectors without their own. */
  readonly workerConfig: Readonly<Record<string, string>>;
  readonly automaticRestarts: Pick<AutomaticRestarts, 'views'>;
}

const MAX_ATTENTION = 100;
const MAX_REASONS = 100;
const EXPECTED: ReadonlySet<Verdict> = new Set(['RUNNING', 'PAUSED', 'STOPPED']);
/** A summary of many connectors is computed in turns that block the event loop for about this long. */
const TURN_MS = 5;

/** The verdict on each connector, from the figures of all its workers. */
export class ConnectorHealth implements HerderListener {
  readonly #dependencies: HealthDependencies;
  readonly #silent = new SilentWorkers();
  /** Times of the verdicts on the figures of all workers, and of those on the figures of this worker alone. */
  readonly #times = { all: new VerdictTimes(), own: new VerdictTimes() };

  constructor(dependencies: HealthDependencies) {
    this.#dependencies = dependencies;
  }

  get committedLags(): CommittedLags {
    return this.#dependencies.committed;
  }

  /** Starts to watch the tasks of this worker. */
  onStarted(): void {
    this.#dependencies.figures.start();
    this.#dependencies.committed.start();
  }

  async onStopping(): Promise<void> {
    this.#dependencies.figures.stop();
    this.#dependencies.committed.stop();
  }

  /** The figures of a connector's tasks on this worker. Throws a RequestError 404 for an unknown connector. */
  async ownFigures(
    name: string,
  ): Promise<{ readonly tasks: readonly TaskFigures[]; readonly committed: readonly CommittedLag[] }> {
    const placed = await this.#own([this.#status(name)]);
    const committed = this.#dependencies.committed.of(name);
    return { tasks: placed.map(({ figures }) => figures), committed: committed === undefined ? [] : [committed] };
  }

  /** The figures of all tasks on this worker, with at most one partition and one topic of each list. */
  async allOwnFigures(): Promise<WorkerFigures> {
    const placed = await this.#own(this.#statuses());
    const tasks = placed.map(({ connector, figures }) => ({
      connector,
      figures: {
        ...figures,
        partitions: figures.partitions.slice(0, 1),
        missingTopics: figures.missingTopics.slice(0, 1),
        emptyTopics: undefined,
      },
    }));
    const committed = this.#dependencies.committed.all().map((each) => ({ ...each, topics: each.topics.slice(0, 1) }));
    return { tasks, committed };
  }

  /** The verdict on one connector. Throws a RequestError 404 for an unknown connector. */
  async view(name: string, ask: AskWorker): Promise<HealthView> {
    this.#dependencies.directory.require(name);
    const status = this.#status(name);
    const gathered = await this.#gather([status], ask);
    const view = this.#view(status, gathered);
    this.#times.all.keep(this.#dependencies.directory.names());
    return view;
  }

  /**
   * Verdicts on the connectors that have tasks or a failed instance on this worker, from the figures of this worker
   * alone. `reports`: the current reports of the tasks.
   */
  async ownVerdicts(reports: readonly TaskReport[]): Promise<readonly Pick<HealthView, 'name' | 'verdict'>[]> {
    const statuses = this.#ownParts(this.#statuses());
    const gathered = this.#gathered(await this.#own(statuses, reports));
    return this.#views(statuses, gathered, true);
  }

  /**
   * Ids of the workers that know figures of a connector; without `connector`, of the workers that know figures of any
   * connector. This worker may be included.
   */
  workers(connector?: string): readonly string[] {
    const statuses = this.#statuses().filter(({ name }) => connector === undefined || name === connector);
    return [...new Set(statuses.flatMap(workersOf))];
  }

  /** The verdicts on all connectors, in the order of the config topic. */
  async views(ask: AskWorker): Promise<readonly HealthView[]> {
    const statuses = this.#statuses();
    return this.#views(statuses, await this.#gather(statuses, ask), false);
  }

  /**
   * The summary of all connectors. Without `ask`, the summary includes only the connectors that have tasks or a failed
   * instance on this worker, and is computed from the figures of this worker alone.
   */
  async summary(ask: AskWorker | undefined): Promise<HealthSummary> {
    const isOwn = ask === undefined;
    const all = this.#statuses();
    const statuses = isOwn ? this.#ownParts(all) : all;
    const gathered = isOwn ? this.#gathered(await this.#own(statuses)) : await this.#gather(statuses, ask);
    const views = await this.#views(statuses, gathered, isOwn);
    const counts = new Map<Verdict, number>();
    for (const { verdict } of views) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
    const severity = ({ verdict }: HealthView): number => VERDICTS.indexOf(verdict);
    const attention = views
      .filter(({ verdict }) => !EXPECTED.has(verdict))
      .sort((a, b) => severity(a) - severity(b) || a.since.localeCompare(b.since));
    const entries = VERDICTS.map((verdict) => [verdict, counts.get(verdict) ?? 0]);
    return {
      connectors: Object.fromEntries(entries) as Record<Verdict, number>,
      attention: attention
        .slice(0, MAX_ATTENTION)
        .map(({ name, verdict, sentence, since }) => ({ name, verdict, sentence, since })),
      silentWorkers: [...gathered.silentMs.keys()],
    };
  }

  /** Connectors that were deleted meanwhile are left out. */
  async #views(
    statuses: readonly ConnectorState[],
    gathered: Gathered,
    isOwn: boolean,
  ): Promise<readonly HealthView[]> {
    const views: HealthView[] = [];
    let turnBeganAt = performance.now();
    for (const status of statuses) {
      if (performance.now() - turnBeganAt > TURN_MS) {
        await nextTurn();
        turnBeganAt = performance.now();
      }
      if (this.#dependencies.directory.configOf(status.name) === undefined) continue;
      views.push(this.#view(status, gathered, isOwn));
    }
    this.#times[isOwn ? 'own' : 'all'].keep(this.#dependencies.directory.names());
    return views;
  }

  #statuses(): readonly ConnectorState[] {
    const started = this.#dependencies.figures.tasks();
    return this.#dependencies.directory.names().map((name) => {
      try {
        return this.#status(name, started);
      } catch {
        // The connector was created a moment ago.
        return { name, connector: NO_STATUS, tasks: [], type: 'unknown' };
      }
    });
  }

  /**
   * The status of a connector, including tasks that have no status yet; tasks that are starting here are STARTING.
   * Throws a RequestError 404.
   */
  #status(name: string, started = this.#dependencies.figures.tasks()): ConnectorState {
    const { directory, workerId } = this.#dependencies;
    const status = directory.status(name);
    if (status.connector.state === 'STOPPED') return status;
    const known = new Map<number, TaskState>(status.tasks);
    for (const { task } of directory.info(name).tasks) {
      const { state } = known.get(task) ?? NO_STATUS;
      if (state !== 'UNASSIGNED') continue;
      const isHere = started.has(taskText({ connector: name, task }));
      known.set(task, isHere ? { state: 'STARTING', workerId } : (known.get(task) ?? NO_STATUS));
    }
    return { ...status, tasks: [...known].sort(([a], [b]) => a - b) };
  }

  /** The connectors with tasks or a failed instance on this worker, each with only its tasks on this worker. */
  #ownParts(statuses: readonly ConnectorState[]): readonly ConnectorState[] {
    const { workerId } = this.#dependencies;
    return statuses.flatMap((status) => {
      const tasks = status.tasks.filter(([, task]) => isAssigned(task) && task.workerId === workerId);
      const isFailed = status.connector.workerId === workerId && status.connector.state === 'FAILED';
      if (tasks.length === 0 && !isFailed) return [];
      return { ...status, tasks, isPartial: tasks.length < status.tasks.length };
    });
  }

  async #own(statuses: readonly ConnectorState[], reports?: readonly TaskReport[]): Promise<readonly PlacedFigures[]> {
    const { figures, workerId } = this.#dependencies;
    const tasks = statuses.flatMap(({ name, tasks: all }) =>
      all.flatMap(([task, status]) =>
        status.workerId === workerId ? [[{ connector: name, task }, status] as const] : [],
      ),
    );
    const found = await figures.figures(tasks, reports);
    return found.flatMap((each, index) => {
      const connector = tasks[index]?.[0].connector;
      return connector === undefined ? [] : [{ connector, figures: this.#hidden(each) }];
    });
  }

  async #gather(statuses: readonly ConnectorState[], ask: AskWorker): Promise<Gathered> {
    const { workerId } = this.#dependencies;
    const workers = new Set(statuses.flatMap(workersOf));
    workers.delete(workerId);
    const [own, others] = await Promise.all([this.#own(statuses), this.#silent.ask([...workers], ask)]);
    return this.#gathered([...others.tasks, ...own], others);
  }

  #gathered(
    placed: readonly PlacedFigures[],
    { committed, silentMs }: Pick<WorkerFigures, 'committed'> & Pick<Gathered, 'silentMs'> = NO_OTHERS,
  ): Gathered {
    const entries = placed.map(
      ({ connector, figures }) => [taskText({ connector, task: figures.task }), figures] as const,
    );
    const lags = [...committed, ...this.#dependencies.committed.all()];
    return { figures: new Map(entries), committed: new Map(lags.map((each) => [each.connector, each])), silentMs };
  }

  #view(status: ConnectorState, gathered: Gathered, isOwn = false): HealthView {
    const { directory, secrets, workerConfig, automaticRestarts } = this.#dependencies;
    const { name, type, isPartial } = status;
    const { state, trace } = status.connector;
    const found = status.tasks.map(([task, each]) => {
      const known = gathered.figures.get(taskText({ connector: name, task }));
      return known === undefined ? unknownFigures(task, each, gathered) : this.#hidden(known);
    });
    const { lag, tasks } = withLag(found, gathered.committed.get(name));
    const silentWorkers = [...new Set(tasks.flatMap(({ silentMs, worker }) => (silentMs === undefined ? [] : worker)))];
    const withTraces = tasks.map((task) => ({
      ...task,
      trace: directory.traceOf({ connector: name, task: task.task }),
    }));
    const restarts = automaticRestarts.views(name);
    const config = directory.configOf(name) ?? {};
    const listsTopics = type === 'sink' && (config['topics'] ?? '') !== '';
    const judged = judge(
      { type, state, trace, tasks: withTraces, silentWorkers, listsTopics, isPartial, restarts },
      thresholdsOf(config, workerConfig),
    );
    const hide = (text: string): string => secrets.hide(text);
    const judgement = {
      verdict: judged.verdict,
      sentence: hide(judged.sentence),
      summary: hide(judged.summary),
      reasons: judged.reasons.slice(0, MAX_REASONS).map(hide),
    };
    const times = this.#times[isOwn ? 'own' : 'all'];
    const since = new Date(times.since(name, judgement.verdict, tasks, restarts)).toISOString();
    return { name, type, ...judgement, since, verdicts: times.of(name), lag, tasks, silentWorkers, restarts };
  }

  #hidden(figures: TaskFigures): TaskFigures {
    const hide = (text: string): string => this.#dependencies.secrets.hide(text);
    const { cause, failedParts, hints } = figures;
    const parts = failedParts?.parts.map(({ name, error }) => ({ name: hide(name), error: hide(error) }));
    return {
      ...figures,
      cause: cause === null ? null : hide(cause),
      ...(failedParts && parts ? { failedParts: { ...failedParts, parts } } : {}),
      ...(hints === undefined ? {} : { hints: hints.map(hide) }),
    };
  }
}

const NO_STATUS: Status = { state: 'UNASSIGNED', trace: null, workerId: '', generation: 0, version: null };

const NO_OTHERS = { committed: [], silentMs: new Map<string, number>() };

/**
 * Ids of the workers that know figures of the connector: those that run its tasks, and, for a sink without a reading
 * task, the one that runs the connector instance.
 */
function workersOf({ type, connector, tasks }: ConnectorState): readonly string[] {
  const ids = tasks.flatMap(([, task]) => (isAssigned(task) ? task.workerId : []));
  const isRead = type !== 'sink' || connector.workerId === '' || tasks.some(([, { state }]) => READING.has(state));
  return isRead ? ids : [...ids, connector.workerId];
}

/**
 * If no task reports a lag, the lag is that of the committed offsets of the connector. If there is only one task, the
 * task gets this lag too.
 */
function withLag(
  tasks: readonly TaskFigures[],
  committed: CommittedLag | undefined,
): Pick<HealthView, 'lag' | 'tasks'> {
  const lags = tasks.flatMap(({ lag }) => lag ?? []);
  if (lags.length > 0) return { lag: lags.reduce((sum, lag) => sum + lag, 0), tasks };
  const lag = committed?.lag ?? null;
  return { lag, tasks: tasks.length === 1 ? tasks.map((task) => ({ ...task, lag })) : tasks };
}

/** Whether the worker of the status still has the task. */
function isAssigned({ state }: TaskState): boolean {
  return state !== 'UNASSIGNED';
}

function unknownFigures(task: number, { state, workerId }: TaskState, { silentMs }: Gathered): TaskFigures {
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
    ...(state !== 'UNASSIGNED' && silentMs.has(workerId) ? { silentMs: silentMs.get(workerId) } : {}),
  };
}
