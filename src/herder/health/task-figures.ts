import type { TaskReport } from '../../connect/tasks/task-hosting.ts';
import { taskText, type TaskId } from '../../connect/tasks/task-assignment.ts';
import type { ThreadName } from '../../observe/thread-figures.ts';
import type { Status } from '../stores/status-store.ts';
import type { TaskFigures } from './verdict.ts';

const MINUTE_MS = 60_000;
const SAMPLE_MS = 5000;
const MAX_CAUSE = 1000;

interface Samples {
  /** Of the last minute, and one before it. */
  counts: { readonly atMs: number; readonly letters: number }[];
  seenAtMs: number;
}

/** What this worker knows of its own tasks; remembers a minute of their counts. */
export class TaskFiguresWatch {
  readonly #reports: () => Promise<readonly TaskReport[]>;
  readonly #places: () => ReadonlyMap<string, ThreadName>;
  readonly #samples = new Map<string, Samples>();
  #timer: NodeJS.Timeout | undefined;
  #sampling = false;

  constructor(reports: () => Promise<readonly TaskReport[]>, places: () => ReadonlyMap<string, ThreadName>) {
    this.#reports = reports;
    this.#places = places;
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

  /** Figures of these tasks of this worker, in their order. */
  async figures(tasks: readonly (readonly [TaskId, Status])[]): Promise<readonly TaskFigures[]> {
    const reports = new Map((await this.#sample()).map((report) => [taskText(report.id), report] as const));
    const places = this.#places();
    const now = performance.now();
    return tasks.map(([id, status]) => {
      const key = taskText(id);
      const samples = this.#samples.get(key);
      const thread = places.get(key) ?? null;
      const figures = figuresOf(id, status, reports.get(key), thread);
      if (reports.has(key)) return { ...figures, deadLettersPerMinute: samples === undefined ? 0 : inMinute(samples) };
      const isSilent = thread !== null && status.state === 'RUNNING' && samples !== undefined;
      const cause = `thread ${String(thread)} of the task does not answer, its turn goes on`;
      return isSilent ? { ...figures, waitedMs: now - samples.seenAtMs, cause } : figures;
    });
  }

  async #sample(): Promise<readonly TaskReport[]> {
    const reports = await this.#reports();
    const atMs = performance.now();
    const places = this.#places();
    for (const key of this.#samples.keys()) if (!places.has(key)) this.#samples.delete(key);
    for (const report of reports) this.#add(taskText(report.id), report, atMs);
    return reports;
  }

  #add(key: string, report: TaskReport, atMs: number): void {
    const letters = lettersOf(report);
    const known = this.#samples.get(key);
    const samples = known ?? { counts: [{ atMs, letters: 0 }], seenAtMs: atMs };
    samples.seenAtMs = atMs;
    const last = samples.counts.at(-1);
    // It was started again.
    if (last !== undefined && letters < last.letters) samples.counts = [{ atMs, letters: 0 }];
    const isDue = last === undefined || atMs - last.atMs >= SAMPLE_MS / 2 || samples.counts.length < 2;
    if (isDue) samples.counts.push({ atMs, letters });
    else samples.counts[samples.counts.length - 1] = { atMs: last.atMs, letters };
    while (samples.counts.length > 2 && (samples.counts[1]?.atMs ?? atMs) < atMs - MINUTE_MS) samples.counts.shift();
    this.#samples.set(key, samples);
  }
}

function inMinute({ counts }: Samples): number {
  return (counts.at(-1)?.letters ?? 0) - (counts[0]?.letters ?? 0);
}

/** Records that went no further: those skipped, with a dead letter or without. */
function lettersOf({ metrics }: TaskReport): number {
  const values = metrics.find(({ group }) => group === 'task-error-metrics')?.values;
  return Math.max(
    Number(values?.['total-records-skipped'] ?? 0),
    Number(values?.['deadletterqueue-produce-requests'] ?? 0),
  );
}

/** Without a report: what the status says. */
function figuresOf(id: TaskId, status: Status, report: TaskReport | undefined, thread: ThreadName | null): TaskFigures {
  const { details } = report ?? {};
  const { progress } = details ?? {};
  const partitions = (details?.partitions ?? []).map(({ topic, partition, lag }) => ({
    topic,
    partition,
    lag: lag ?? null,
  }));
  const lags = partitions.flatMap(({ lag }) => lag ?? []);
  return {
    task: id.task,
    state: status.state,
    worker: status.workerId,
    thread,
    partitions,
    lag: lags.length === 0 ? null : lags.reduce((sum, lag) => sum + lag, 0),
    waiting: progress?.waiting ?? 0,
    lastDeliveredAt: progress?.deliveredAtMs === undefined ? null : new Date(progress.deliveredAtMs).toISOString(),
    waitedMs: Math.round(progress?.waitedMs ?? 0),
    retries: progress?.retries ?? 0,
    deadLettersPerMinute: 0,
    missingTopics:
      report?.type === 'sink'
        ? (details?.parts ?? []).filter(({ state }) => state === 'WAITING').map(({ name }) => name)
        : [],
    cause: progress?.cause === undefined ? null : oneLine(progress.cause),
    throttledMs: progress?.throttledMs ?? 0,
  };
}

/** What a plugin says may be long. */
function oneLine(text: string): string {
  return text.slice(0, MAX_CAUSE).replaceAll(/[\r\n]/g, ' ');
}
