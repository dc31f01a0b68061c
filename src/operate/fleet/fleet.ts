import type { ConnectorDirectory } from '../../herder/connector-directory.ts';
import type { ConnectorHealth, HealthView } from '../health/connector-health.ts';
import type { AskWorker } from '../health/gathered-figures.ts';
import type { TaskFigures } from '../health/verdict.ts';
import type { StatusStore } from '../../herder/stores/status-store.ts';
import type { ConnectorHistory, FleetRow, OwnRate } from './fleet-answers.ts';
import type { FleetHistory } from './fleet-history.ts';
import { topicsAndTables } from './topics-and-tables.ts';

/** Requests the rates of the other workers; workers that do not answer are left out. */
export type AskRates = () => Promise<readonly (readonly OwnRate[])[]>;

/** A worker that has tasks and has not answered the last request. */
export interface SilentWorker {
  readonly worker: string;
  readonly silentMs: number;
  /** Whether the silence is too long to be a single failed request. */
  readonly isCertain: boolean;
}

export interface FleetLook {
  readonly rows: readonly FleetRow[];
  readonly silent: readonly SilentWorker[];
}

const SILENT = 'SILENT';
/** A shorter silence may be a single failed request. */
const SILENT_MS = 1000;
const MAX_WORKERS = 20;

/** The overview of all connectors of the cluster, and the last hour of the connectors that run here. */
export class Fleet {
  readonly #directory: Pick<ConnectorDirectory, 'names' | 'configOf'>;
  readonly #health: Pick<ConnectorHealth, 'views'>;
  readonly #history: FleetHistory;
  readonly #statuses: Pick<StatusStore, 'onChange' | 'topics'>;

  constructor(
    directory: Pick<ConnectorDirectory, 'names' | 'configOf'>,
    health: Pick<ConnectorHealth, 'views'>,
    history: FleetHistory,
    statuses: Pick<StatusStore, 'onChange' | 'topics'>,
  ) {
    this.#directory = directory;
    this.#health = health;
    this.#history = history;
    this.#statuses = statuses;
  }

  async look(ask: AskWorker, askRates: AskRates): Promise<FleetLook> {
    const health = this.#health;
    const directory = this.#directory;
    const statuses = this.#statuses;
    const [views, others] = await Promise.all([health.views(ask), askRates()]);
    const rates = merged([this.ownRates(), ...others]);
    const rows = views.map((view): FleetRow => {
      const { name, type, verdict, sentence, since, lag, tasks } = view;
      const states = tasks.map((task) => (isSilent(task) ? SILENT : task.state));
      const config = directory.configOf(name) ?? {};
      const known = rates.get(name);
      return {
        name,
        type,
        className: config['connector.class'] ?? '',
        verdict: verdict === 'RUNNING' && states.includes(SILENT) ? SILENT : verdict,
        sentence,
        since,
        tasks: countBy(states),
        workers: [...new Set(tasks.map(({ worker }) => worker))].slice(0, MAX_WORKERS),
        ...topicsAndTables(
          type,
          config,
          statuses.topics(name).map(({ topic }) => topic),
        ),
        rate: known?.rate ?? null,
        lag,
        deadLettersPerMinute: tasks.reduce((sum, task) => sum + task.deadLettersPerMinute, 0),
        spark: known?.spark ?? [],
      };
    });
    return { rows, silent: silentWorkers(views) };
  }

  /**
   * Calls the listener when the state of a connector or task in the cluster has changed. Returns the function that
   * unsubscribes it.
   */
  onChange(listener: () => void): () => void {
    return this.#statuses.onChange(listener);
  }

  /** Rates of the connectors that have run here within the last hour. */
  ownRates(): readonly OwnRate[] {
    const directory = this.#directory;
    const history = this.#history;
    return directory.names().flatMap((name) => {
      const { rate } = history.newest(name);
      const spark = history.spark(name);
      return spark.every((value) => value === null) ? [] : [{ name, rate, spark }];
    });
  }

  /** The last hour of a connector, from its tasks on this worker. */
  history(connector: string): ConnectorHistory {
    return this.#history.series(connector);
  }
}

function isSilent({ silentMs = 0 }: Pick<TaskFigures, 'silentMs'>): boolean {
  return silentMs >= SILENT_MS;
}

/** The workers that do not answer, and for how long. */
function silentWorkers(views: readonly HealthView[]): readonly SilentWorker[] {
  const found = new Map<string, SilentWorker>();
  for (const task of views.flatMap(({ tasks }) => tasks)) {
    const { worker, silentMs } = task;
    if (silentMs !== undefined) found.set(worker, { worker, silentMs, isCertain: isSilent(task) });
  }
  return [...found.values()];
}

/** Sums up the rates of all workers by connector. All sparklines end with the current minute. */
function merged(workers: readonly (readonly OwnRate[])[]): ReadonlyMap<string, OwnRate> {
  const found = new Map<string, OwnRate>();
  for (const each of workers.flat()) {
    const known = found.get(each.name);
    found.set(
      each.name,
      known === undefined
        ? each
        : { name: each.name, rate: sum(known.rate, each.rate), spark: addedUp(known.spark, each.spark) },
    );
  }
  return found;
}

function addedUp(a: readonly (number | null)[], b: readonly (number | null)[]): readonly (number | null)[] {
  const length = Math.max(a.length, b.length);
  return Array.from({ length }, (_, index) => sum(a[index - length + a.length], b[index - length + b.length]));
}

function sum(a: number | null | undefined, b: number | null | undefined): number | null {
  return a === null || a === undefined ? (b ?? null) : a + (b ?? 0);
}

function countBy(texts: readonly string[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return Object.fromEntries(counts);
}
