import { cpus, totalmem } from 'node:os';
import type { BenchServices } from './bench-services.ts';
import type { Run } from './measured-run.ts';
import { rounded } from './rounded.ts';
import type { WorkerUnderTest } from './worker-under-test.ts';

export { rounded };

/** Figures of one workload: the medians of the runs, and the values to compare them with. */
export interface Figures {
  readonly rows_per_s: number;
  readonly rows_per_s_range: Range;
  /** CPU time of the worker process. */
  readonly cpu_s_per_million: number;
  /** CPU time of the main thread only. */
  readonly main_thread_cpu_s_per_million: number;
  readonly database_cpu_s_per_million: number;
  readonly peak_rss_mb: number;
  /** Memory in the first, the middle and the last fifth of the longest run. */
  readonly rss_mb_start_middle_end: readonly number[];
}

export type Range = readonly [number, number];

/** A peer with which a workload is compared in the same run. */
export interface Comparison {
  readonly peer: string;
  readonly peer_rows_per_s: number;
  readonly peer_rows_per_s_range: Range;
  readonly ratio_to_peer: number;
}

export async function summarise(runs: readonly Run[], worker: WorkerUnderTest): Promise<Figures> {
  const rates = runs.map(({ rowsPerS }) => rowsPerS);
  return {
    rows_per_s: Math.round(median(rates)),
    rows_per_s_range: rangeOf(rates),
    cpu_s_per_million: rounded(median(runs.map(({ cpu }) => cpu))),
    main_thread_cpu_s_per_million: rounded(median(runs.map(({ mainThreadCpu }) => mainThreadCpu))),
    database_cpu_s_per_million: rounded(median(runs.map(({ databaseCpu }) => databaseCpu))),
    peak_rss_mb: await worker.peakRssMb(),
    rss_mb_start_middle_end: startMiddleEnd(runs.reduce((a, b) => (b.rssMb.length > a.rssMb.length ? b : a)).rssMb),
  };
}

export function compare(runs: readonly Run[], peer: string, peerRates: readonly number[]): Comparison {
  const rate = median(runs.map(({ rowsPerS }) => rowsPerS));
  return {
    peer,
    peer_rows_per_s: Math.round(median(peerRates)),
    peer_rows_per_s_range: rangeOf(peerRates),
    ratio_to_peer: rounded(rate / median(peerRates)),
  };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}

/** Returns the value that the given share of the values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}

export function rangeOf(values: readonly number[]): Range {
  return [Math.round(Math.min(...values)), Math.round(Math.max(...values))];
}

function startMiddleEnd(samples: readonly number[]): readonly number[] {
  const fifth = Math.ceil(samples.length / 5);
  return [0, Math.floor((samples.length - fifth) / 2), samples.length - fifth].map((from) =>
    median(samples.slice(from, from + fifth)),
  );
}

export function formatTable(figures: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(figures).map(([name, value]) => `  ${name.padEnd(38)}${text(value)}`);
  return `${lines.join('\n')}\n\n`;
}

function text(value: unknown): string {
  if (Array.isArray(value)) return value.map(text).join(' to ');
  return typeof value === 'number' ? value.toLocaleString('en') : String(value);
}

/** Describes in one line the machine and the versions that were measured. */
export async function machine(services: BenchServices): Promise<string> {
  const version = String((await services.query('show server_version')).rows[0]?.[0]).split(' ')[0] ?? '';
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${String(cpus().length)} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${String(gigabytes)} GiB, Node ${process.version}, PostgreSQL ${version}, ${services.broker}`;
}
