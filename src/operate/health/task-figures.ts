import type { TaskPart } from '../../connect/api.ts';
import type { TaskReport } from '../../connect/hosting/task-hosting.ts';
import { taskText, type TaskId } from '../../connect/task-assignment.ts';
import type { ThreadName } from '../../observe/thread-figures.ts';
import type { TaskFigures } from './verdict.ts';

const MINUTE_MS = 60_000;
const SAMPLE_MS = 5000;
const MAX_CAUSE = 1000;
/** Maximum number of failed parts that are named. */
const MAX_PARTS_NAMED = 5;
const MAX_HINTS = 5;

interface PlacedState {
  readonly state: string;
  readonly workerId: string;
}

interface Samples {
  /** Counts of the last minute, and one count before it. */
  counts: { readonly atMs: number; readonly undelivered: number }[];
  seenAtMs: number;
  partitions: TaskFigures['partitions'];
  /** Sink tasks: since when the task has no partition. */
  withoutPartitionsSinceMs: number | undefined;
  /**
   * Set while the task is behind although it has no records to deliver: since when it has received nothing, and the
   * number of records that it had received by then.
   */
  unread: { readonly sinceMs: number; readonly records: number } | undefined;
}

/** The figures of this worker's own tasks. Remembers a minute of their counts. */
export class TaskFiguresWatch {
  readonly #reports: () => Promise<readonly TaskReport[]>;
  readonly #places: () => ReadonlyMap<string, ThreadName>;
  readonly #seenAt: (id: TaskId) => string | undefined;
  readonly #listener: (reports: readonly TaskReport[]) => void;
  readonly #samples = new Map<string, Samples>();
  #timer: NodeJS.Timeout | undefined;
  #sampling = false;

  /** `seenAt` describes the last known activity of a task, as part of a sentence; `listener` receives each sample. */
  constructor(
    reports: () => Promise<readonly TaskReport[]>,
    places: () => ReadonlyMap<string, ThreadName>,
    seenAt: (id: TaskId) => string | undefined,
    listener: (reports: readonly TaskReport[]) => void = () => undefined,
  ) {
    this.#reports = reports;
    this.#places = places;
    this.#seenAt = seenAt;
    this.#listener = listener;
  }

  /** Keys (`connector-task`) of the tasks that have a thread on this worker, including those that are starting. */
  tasks(): ReadonlySet<string> {
    return new Set(this.#places().keys());
  }

  start(): void {
    this.#timer = setInterval(() => {
      if (this.#sampling) return;
      this.#sampling = true;
      void this.#sample()
        .catch(() => [])
        .finally(() => (this.#sampling = false));
    }, SAMPLE_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The figures of these tasks of this worker, in their order. `given`: current reports, used instead of new ones. */
  async figures(
    tasks: readonly (readonly [TaskId, PlacedState])[],
    given?: readonly TaskReport[],
  ): Promise<readonly TaskFigures[]> {
    const all = given === undefined ? await this.#sample() : this.#note(given);
    const reports = new Map(all.map((report) => [taskText(report.id), report] as const));
    const places = this.#places();
    const now = performance.now();
    return tasks.map(([id, status]) => {
      const key = taskText(id);
      const samples = this.#samples.get(key);
      const thread = places.get(key) ?? null;
      const figures = figuresOf(id, status, reports.get(key), thread);
      if (samples === undefined) return figures;
      if (reports.has(key)) return { ...figures, ...ofSamples(figures, samples, now) };
      if (thread === null || status.state !== 'RUNNING') return figures;
      const place = this.#seenAt(id);
      const cause = `its thread ${String(thread)} does not turn its event loop${place === undefined ? '' : `, ${place}`}`;
      const { partitions } = samples;
      return { ...figures, partitions, lag: lagOf(partitions), waitedMs: Math.round(now - samples.seenAtMs), cause };
    });
  }

  async #sample(): Promise<readonly TaskReport[]> {
    return this.#note(await this.#reports());
  }

  #note(reports: readonly TaskReport[]): readonly TaskReport[] {
    const atMs = performance.now();
    const places = this.#places();
    for (const key of this.#samples.keys()) if (!places.has(key)) this.#samples.delete(key);
    for (const report of reports) this.#add(taskText(report.id), report, atMs);
    this.#listener(reports);
    return reports;
  }

  #add(key: string, report: TaskReport, atMs: number): void {
    const undelivered = undeliveredOf(report);
    const known = this.#samples.get(key);
    const samples = known ?? {
      counts: [{ atMs, undelivered: 0 }],
      seenAtMs: atMs,
      partitions: [],
      withoutPartitionsSinceMs: undefined,
      unread: undefined,
    };
    samples.seenAtMs = atMs;
    samples.partitions = partitionsOf(report);
    noteReading(samples, report, atMs);
    const last = samples.counts.at(-1);
    // The task was restarted.
    if (last !== undefined && undelivered < last.undelivered) samples.counts = [{ atMs, undelivered: 0 }];
    const isDue = last === undefined || atMs - last.atMs >= SAMPLE_MS / 2 || samples.counts.length < 2;
    if (isDue) samples.counts.push({ atMs, undelivered });
    else samples.counts[samples.counts.length - 1] = { atMs: last.atMs, undelivered };
    while (samples.counts.length > 2 && (samples.counts[1]?.atMs ?? atMs) < atMs - MINUTE_MS) samples.counts.shift();
    this.#samples.set(key, samples);
  }
}

function noteReading(samples: Samples, { details }: TaskReport, atMs: number): void {
  const { reading, partitions = [], progress } = details ?? {};
  if (reading === undefined) return;
  if (partitions.length > 0 || reading.isPaused) samples.withoutPartitionsSinceMs = undefined;
  else samples.withoutPartitionsSinceMs ??= atMs;
  const isBehind = reading.isBehind && progress?.waitedMs === 0 && progress.waiting === 0;
  if (!isBehind || reading.isPaused) samples.unread = undefined;
  else if (samples.unread?.records !== reading.records) samples.unread = { sinceMs: atMs, records: reading.records };
}

function ofSamples({ waitedMs }: TaskFigures, samples: Samples, now: number): Partial<TaskFigures> {
  const { unread, withoutPartitionsSinceMs } = samples;
  return {
    deadLettersPerMinute: inMinute(samples),
    ...(unread === undefined || waitedMs > 0
      ? {}
      : {
          waitedMs: Math.round(now - unread.sinceMs),
          cause: 'the brokers do not give the records to it; they may belong to a transaction that is still open',
        }),
    ...(withoutPartitionsSinceMs === undefined
      ? {}
      : { withoutPartitionsMs: Math.round(now - withoutPartitionsSinceMs) }),
  };
}

function inMinute({ counts }: Samples): number {
  return (counts.at(-1)?.undelivered ?? 0) - (counts[0]?.undelivered ?? 0);
}

/** Number of records that were not delivered: skipped ones, with or without a dead letter. */
function undeliveredOf({ metrics }: TaskReport): number {
  const values = metrics.find(({ group }) => group === 'task-error-metrics')?.values;
  return Math.max(
    Number(values?.['total-records-skipped'] ?? 0),
    Number(values?.['deadletterqueue-produce-requests'] ?? 0),
  );
}

/** Without a report, only the state, the worker and the thread are known. */
function figuresOf(
  id: TaskId,
  status: PlacedState,
  report: TaskReport | undefined,
  thread: ThreadName | null,
): TaskFigures {
  const { details } = report ?? {};
  const { progress } = details ?? {};
  const hasFailed = status.state === 'FAILED';
  const partitions = partitionsOf(report);
  return {
    task: id.task,
    state: status.state,
    worker: status.workerId,
    thread,
    partitions,
    lag: lagOf(partitions),
    waiting: progress?.waiting ?? 0,
    lastDeliveredAt: progress?.deliveredAtMs === undefined ? null : new Date(progress.deliveredAtMs).toISOString(),
    ...(progress?.lastPutMs === undefined ? {} : { lastPutMs: Math.round(progress.lastPutMs) }),
    waitedMs: hasFailed ? 0 : Math.round(progress?.waitedMs ?? 0),
    retries: progress?.retries ?? 0,
    deadLettersPerMinute: 0,
    missingTopics:
      report?.type === 'sink'
        ? (details?.parts ?? []).filter(({ state }) => state === 'WAITING').map(({ name }) => name)
        : [],
    ...emptyTopics(report),
    cause: hasFailed || progress?.cause === undefined ? null : oneLine(progress.cause),
    ...failedParts(details?.parts ?? []),
    ...hintsOf(details?.hints ?? []),
    throttledMs: progress?.throttledMs ?? 0,
    ...(details?.reading && {
      isInGroup: details.reading.isInGroup,
      uncommittedMs: Math.round(details.reading.uncommittedMs),
    }),
  };
}

function partitionsOf(report: TaskReport | undefined): TaskFigures['partitions'] {
  const partitions = report?.details?.partitions ?? [];
  return partitions.map(({ topic, partition, lag = null }) => ({ topic, partition, lag }));
}

/** Topics of a sink task that have never had a record in any of the task's partitions. */
function emptyTopics(report: TaskReport | undefined): Pick<TaskFigures, 'emptyTopics'> {
  if (report?.type !== 'sink') return {};
  const partitions = report.details?.partitions ?? [];
  const used = new Set(partitions.flatMap(({ topic, end }) => (end === 0 ? [] : topic)));
  const empty = new Set(partitions.flatMap(({ topic }) => (used.has(topic) ? [] : topic)));
  return empty.size === 0 ? {} : { emptyTopics: [...empty] };
}

function lagOf(partitions: TaskFigures['partitions']): number | null {
  const lags = partitions.flatMap(({ lag }) => lag ?? []);
  return lags.length === 0 ? null : lags.reduce((sum, lag) => sum + lag, 0);
}

function failedParts(parts: readonly TaskPart[]): Pick<TaskFigures, 'failedParts'> {
  const failed = parts.filter(({ state }) => state === 'FAILED');
  if (failed.length === 0) return {};
  const named = failed.slice(0, MAX_PARTS_NAMED).map(({ name, error = 'the cause is not known' }) => {
    return { name: oneLine(name), error: oneLine(error) };
  });
  return { failedParts: { count: failed.length, parts: named } };
}

function hintsOf(hints: readonly string[]): Pick<TaskFigures, 'hints'> {
  return hints.length === 0 ? {} : { hints: hints.slice(0, MAX_HINTS).map(oneLine) };
}

/** Shortens a text of a plugin, and removes its line breaks. */
function oneLine(text: string): string {
  return text.slice(0, MAX_CAUSE).replaceAll(/[\r\n]/g, ' ');
}
