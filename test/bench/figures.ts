import { cpus, totalmem } from 'node:os';
import type { BenchServices } from './bench-services.ts';

export interface BenchContext {
  readonly services: BenchServices;
  readonly rows: number;
  /** Counted runs; the median is quoted. */
  readonly runs: number;
}

/** Figures of one workload: medians of the runs, and what they are to be held against. */
export interface Figures {
  readonly rows_per_s: number;
  readonly rows_per_s_range: readonly [number, number];
  /** Of the worker process. */
  readonly cpu_s_per_million: number;
  readonly database_cpu_s_per_million: number;
  readonly peak_rss_mb: number;
  readonly peer: string;
  readonly peer_rows_per_s: number;
  readonly ratio_to_peer: number;
}

/** Runs one workload; what it gives is printed as it is. */
export type Workload = (context: BenchContext) => Promise<object>;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}

export function formatTable(figures: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(figures).map(([name, value]) => `  ${name.padEnd(28)}${text(value)}`);
  return `${lines.join('\n')}\n\n`;
}

function text(value: unknown): string {
  if (Array.isArray(value)) return value.map(text).join(' to ');
  return typeof value === 'number' ? value.toLocaleString('en') : String(value);
}

/** One line on what the figures were measured on. */
export async function machine(services: BenchServices): Promise<string> {
  const { rows } = await services.query('select version()');
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${String(cpus().length)} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${String(gigabytes)} GiB, Node ${process.version}, ${String(rows[0]?.[0]).split(' on ')[0] ?? ''}, Kafka at ${services.bootstrapServers}`;
}
