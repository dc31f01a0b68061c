import { setImmediate as nextTurn } from 'node:timers/promises';
import { taskText } from '../../connect/tasks/task-assignment.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import type { ConnectorDirectory, ConnectorStatusInfo } from '../connector-directory.ts';
import type { Status } from '../stores/status-store.ts';
import type { Healing } from '../healing/healing.ts';
import type { RestartView } from '../healing/restart-view.ts';
import type { TaskFiguresWatch } from './task-figures.ts';
import { SilentWorkers, type AskWorker, type Gathered, type PlacedFigures } from './gathered-figures.ts';
import { thresholdsOf } from './thresholds.ts';
import { judge, VERDICTS, type Judgement, type TaskFigures, type Verdict } from './verdict.ts';

/** `GET /connectors/{connector}/health`. */
export interface HealthView extends Judgement {
  readonly name: string;
  readonly type: ConnectorState['type'];
  /** ISO 8601: since when the verdict is this one, as far as this worker knows. */
  readonly since: string;
  readonly tasks: readonly TaskFigures[];
  /** Workers that have tasks of the connector and did not answer. */
  readonly silentWorkers: readonly string[];
  /** Of those that have failed: the connector's own instance first, then by task. */
  readonly restarts: readonly RestartView[];
}

/** `GET /health?connectors`. */
export interface HealthSummary {
  /** Connectors by their verdict. */
  readonly connectors: Readonly<Record<Verdict, number>>;
  /** The worst first. */
  readonly attention: readonly Pick<HealthView, 'name' | 'verdict' | 'sentence' | 'since'>[];
  readonly silentWorkers: readonly string[];
}

/** `STARTING` beside the states of Connect. */
type TaskState = Pick<Status, 'workerId'> & { readonly state: Status['state'] | 'STARTING' };

interface ConnectorState extends Omit<ConnectorStatusInfo, 'tasks'> {
  readonly tasks: readonly (readonly [number, TaskState])[];
}

interface HealthDependencies {
  readonly directory: ConnectorDirectory;
  readonly workerId: string;
  readonly figures: TaskFiguresWatch;
  readonly secrets: Pick<SecretMask, 'hide'>;
  /** Its thresholds are those of connectors that have none. */
  readonly workerConfig: Readonly<Record<string, string>>;
  readonly healing: Pick<Healing, 'views'>;
}

const MAX_ATTENTION = 100;
const MAX_REASONS = 100;
const CALLS_FOR_NOBODY: ReadonlySet<Verdict> = new Set(['RUNNING', 'PAUSED', 'STOPPED']);
/** Other work of the thread waits no longer than this for a summary of many connectors. */
const TURN_MS = 5;

/** The verdict on each connector, from the figures of all its workers. */
export class ConnectorHealth {
  readonly #dependencies: HealthDependencies;
  readonly #silent = new SilentWorkers();
  readonly #seen = new Map<string, { readonly verdict: string; readonly sinceMs: number }>();

  constructor(dependencies: HealthDependencies) {
    this.#dependencies = dependencies;
  }

  /** The figures of the tasks of a connector that this worker has. Throws a RequestError 404 for an unknown connector. */
  async ownFigures(name: string): Promise<readonly TaskFigures[]> {
    const placed = await this.#own([this.#status(name)]);
    return placed.map(({ figures }) => figures);
  }

  /** Of all tasks that this worker has; of partitions and missing topics the first one only. */
  async allOwnFigures(): Promise<readonly PlacedFigures[]> {
    const placed = await this.#own(this.#statuses());
    return placed.map(({ connector, figures }) => ({
      connector,
      figures: {
        ...figures,
        partitions: figures.partitions.slice(0, 1),
        missingTopics: figures.missingTopics.slice(0, 1),
      },
    }));
  }

  /** Throws a RequestError 404 for an unknown connector. */
  async view(name: string, ask: AskWorker): Promise<HealthView> {
    this.#dependencies.directory.require(name);
    const status = this.#status(name);
    const gathered = await this.#gather([status], ask);
    const view = this.#view(status, gathered);
    this.#forgetOthers();
    return view;
  }

  /** Of all connectors; without `ask` of those that have tasks on this worker, by these tasks. */
  async summary(ask: AskWorker | undefined): Promise<HealthSummary> {
    const statuses = this.#statuses();
    const gathered = await this.#gather(statuses, ask ?? (() => Promise.resolve([])));
    const counts = new Map<Verdict, number>();
    const attention: HealthView[] = [];
    let turnBeganAt = performance.now();
    for (const status of statuses) {
      if (performance.now() - turnBeganAt > TURN_MS) {
        await nextTurn();
        turnBeganAt = performance.now();
      }
      const shown = ask === undefined ? this.#ownPart(status) : status;
      if (shown === undefined) continue;
      const view = this.#view(shown, gathered, ask === undefined);
      counts.set(view.verdict, (counts.get(view.verdict) ?? 0) + 1);
      if (!CALLS_FOR_NOBODY.has(view.verdict)) attention.push(view);
    }
    this.#forgetOthers();
    const severity = ({ verdict }: HealthView): number => VERDICTS.indexOf(verdict);
    attention.sort((a, b) => severity(a) - severity(b) || a.since.localeCompare(b.since));
    return {
      connectors: Object.fromEntries(VERDICTS.map((verdict) => [verdict, counts.get(verdict) ?? 0])) as Record<
        Verdict,
        number
      >,
      attention: attention
        .slice(0, MAX_ATTENTION)
        .map(({ name, verdict, sentence, since }) => ({ name, verdict, sentence, since })),
      silentWorkers: ask === undefined ? [] : [...gathered.silentMs.keys()],
    };
  }

  #statuses(): readonly ConnectorState[] {
    const started = this.#dependencies.figures.tasks();
    return this.#dependencies.directory.names().map((name) => {
      try {
        return this.#status(name, started);
      } catch {
        // Created a moment ago.
        return { name, connector: NO_STATUS, tasks: [], type: 'unknown' };
      }
    });
  }

  /** With the tasks that have no status yet; those that start here are STARTING. Throws a RequestError 404. */
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

  /** `undefined`: nothing of the connector is on this worker. */
  #ownPart(status: ConnectorState): ConnectorState | undefined {
    const { workerId } = this.#dependencies;
    const tasks = status.tasks.filter(([, task]) => isHad(task) && task.workerId === workerId);
    const isOwn = status.connector.workerId === workerId && status.connector.state === 'FAILED';
    return tasks.length === 0 && !isOwn ? undefined : { ...status, tasks };
  }

  async #own(statuses: readonly ConnectorState[]): Promise<readonly PlacedFigures[]> {
    const { figures, workerId } = this.#dependencies;
    const tasks = statuses.flatMap(({ name, tasks: all }) =>
      all.flatMap(([task, status]) =>
        status.workerId === workerId ? [[{ connector: name, task }, status] as const] : [],
      ),
    );
    const found = await figures.figures(tasks);
    return found.flatMap((each, index) => {
      const connector = tasks[index]?.[0].connector;
      return connector === undefined ? [] : [{ connector, figures: this.#hidden(each) }];
    });
  }

  async #gather(statuses: readonly ConnectorState[], ask: AskWorker): Promise<Gathered> {
    const { workerId } = this.#dependencies;
    const workers = new Set(
      statuses.flatMap(({ tasks }) => tasks.flatMap(([, task]) => (isHad(task) ? task.workerId : []))),
    );
    workers.delete(workerId);
    const [own, others] = await Promise.all([this.#own(statuses), this.#silent.ask([...workers], ask)]);
    const figures = new Map<string, TaskFigures>();
    for (const each of [...others.placed, ...own]) {
      figures.set(taskText({ connector: each.connector, task: each.figures.task }), each.figures);
    }
    return { figures, silentMs: others.silentMs };
  }

  #view(status: ConnectorState, gathered: Gathered, isPartial = false): HealthView {
    const { directory, secrets, workerConfig, healing } = this.#dependencies;
    const { name, type } = status;
    const { state, trace } = status.connector;
    const tasks = status.tasks.map(([task, each]) => {
      const known = gathered.figures.get(taskText({ connector: name, task }));
      return known === undefined ? unknownFigures(task, each, gathered) : this.#hidden(known);
    });
    const silentWorkers = [...new Set(tasks.flatMap(({ silentMs, worker }) => (silentMs === undefined ? [] : worker)))];
    const withTraces = tasks.map((task) => ({
      ...task,
      trace: directory.traceOf({ connector: name, task: task.task }),
    }));
    const restarts = healing.views(name);
    const judged = judge(
      { type, state, trace, tasks: withTraces, silentWorkers, isPartial, restarts },
      thresholdsOf(directory.configOf(name) ?? {}, workerConfig),
    );
    const hide = (text: string): string => secrets.hide(text);
    const judgement = {
      verdict: judged.verdict,
      sentence: hide(judged.sentence),
      reasons: judged.reasons.slice(0, MAX_REASONS).map(hide),
    };
    const since = new Date(this.#since(name, judgement, tasks)).toISOString();
    return { name, type, ...judgement, since, tasks, silentWorkers, restarts };
  }

  #hidden(figures: TaskFigures): TaskFigures {
    return figures.cause === null ? figures : { ...figures, cause: this.#dependencies.secrets.hide(figures.cause) };
  }

  #since(name: string, { verdict }: Judgement, tasks: readonly TaskFigures[]): number {
    const seen = this.#seen.get(name);
    if (seen?.verdict === verdict) return seen.sinceMs;
    const waited = verdict === 'STALLED' ? Math.max(0, ...tasks.map(({ waitedMs }) => waitedMs)) : 0;
    const sinceMs = Date.now() - waited;
    this.#seen.set(name, { verdict, sinceMs });
    return sinceMs;
  }

  /** Connectors that are gone. */
  #forgetOthers(): void {
    const names = this.#dependencies.directory.names();
    if (this.#seen.size <= names.length) return;
    const known = new Set(names);
    for (const name of this.#seen.keys()) if (!known.has(name)) this.#seen.delete(name);
  }
}

const NO_STATUS: Status = { state: 'UNASSIGNED', trace: null, workerId: '', generation: 0, version: null };

/** Whether the worker of the status has the task. */
function isHad({ state }: TaskState): boolean {
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
