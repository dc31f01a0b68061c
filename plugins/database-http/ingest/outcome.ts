import type { Fault, WriteReport } from '../../database/index.ts';
import { serverTiming, type Timings } from '../transport/request-clock.ts';
import type { ApiFailure, Tally } from '../route.ts';

/** Maximum number of bad lines that are reported individually; further ones are only counted. */
const MAX_REPORTED = 100;

/** A line or point that could not be stored, with its number and, if requested, its text. */
export interface BadLine {
  readonly line: number;
  readonly fault: Fault;
  readonly text: string | undefined;
}

/** The result of storing a body. */
export interface Outcome {
  /** Number of rows that were stored. */
  readonly stored: number;
  /** Number of rows that another row with the same key replaced, or that were merged into it. */
  readonly collapsed: number;
  /** The first bad lines, in order. */
  readonly badLines: readonly BadLine[];
  /** Number of all bad lines. */
  readonly badCount: number;
  /** Reason why the body was not read or stored completely; `undefined` if it was. */
  readonly failure: ApiFailure | undefined;
  readonly timings: Timings;
}

/** Counts rows and keeps the first bad lines. */
export class OutcomeCounts {
  stored = 0;
  collapsed = 0;
  badCount = 0;
  #badLines: BadLine[] = [];

  addReport({ stored, collapsed, discarded }: WriteReport): void {
    this.stored += stored;
    this.collapsed += collapsed + discarded;
  }

  /** Adds faults in any order, because writes end in any order; the bad lines with the lowest numbers are kept. */
  addFaults(faults: readonly Fault[], textOf?: (line: number) => string | undefined): void {
    this.badCount += faults.length;
    const last = this.#badLines.length >= MAX_REPORTED ? (this.#badLines.at(-1)?.line ?? 0) : Infinity;
    const added = new Set<BadLine>();
    for (const fault of faults) {
      const line = fault.origin?.kind === 'line' ? fault.origin.line : 0;
      if (line < last) added.add({ line, fault, text: undefined });
    }
    if (added.size === 0) return;
    this.#badLines = [...this.#badLines, ...added]
      .sort((left, right) => left.line - right.line)
      .slice(0, MAX_REPORTED)
      .map((bad) => (textOf !== undefined && added.has(bad) ? { ...bad, text: textOf(bad.line) } : bad));
  }

  get badLines(): readonly BadLine[] {
    return this.#badLines;
  }
}

/** The reason why a line is bad. Messages of the database get the prefix that clients expect. */
export function reasonOf({ fault }: BadLine): string {
  return fault.sqlstate === undefined ? fault.message : `pq: ${fault.message}`;
}

/** Describes all failures in one text. `unit` is the name of a row in the body. */
export function describeOutcome({ badLines, badCount, failure }: Outcome, unit: 'line' | 'point'): string {
  const parts = badLines.map((bad) => `${unit} ${String(bad.line)}: ${reasonOf(bad)}`);
  const rest = badCount - badLines.length;
  if (rest > 0) parts.push(`and ${String(rest)} more bad ${unit}s`);
  if (failure !== undefined) parts.push(failure.message);
  return parts.join('; ');
}

/**
 * The HTTP status: that of the failure, otherwise 400 if a line is bad, otherwise `success`
 * (docs/database-api.md#status-codes).
 */
export function statusOf({ badCount, failure }: Outcome, success: number): number {
  return failure?.status ?? (badCount > 0 ? 400 : success);
}

/** Counts for the metrics. */
export function tallyOf({ stored, badCount }: Outcome): () => Tally {
  return () => ({ rows: stored, faults: badCount });
}

export function outcomeHeaders({ timings, failure, collapsed }: Outcome): Record<string, string> {
  const retry = failure?.retryAfterSeconds;
  return {
    'Server-Timing': serverTiming(timings),
    ...(collapsed > 0 ? { 'X-Rows-Collapsed': String(collapsed) } : {}),
    ...(retry === undefined ? {} : { 'Retry-After': String(retry) }),
  };
}
