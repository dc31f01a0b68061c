import { toError } from '../../../src/index.ts';
import { DatabaseError, tableText, type DecodedRows, type WriteReport } from '../../database/index.ts';
import { databaseFailure } from '../database-failure.ts';
import type { BodyPart, DecodeClock } from './decode.ts';
import { OutcomeCounts, type Outcome } from './outcome.ts';
import { ApiFailure } from '../route.ts';

/** Maximum number of parts of a body that are being written, or that wait for an earlier part with rows of the same tables. */
const MAX_IN_FLIGHT = 2;
const RETRY_AFTER_SECONDS = 5;

/**
 * Stores batches and resolves with their results, in order. Rows that cannot be stored are reported as faults. A
 * rejected result is a failure that is not limited to the rows of one table.
 */
export type Store = (all: readonly DecodedRows[]) => Promise<readonly PromiseSettledResult<WriteReport>[]>;

/**
 * Decodes and stores a body. While parts are written, the next part is decoded. Batches of one table are written one
 * after the other, in the order of the body. Reading ends at the first failure that is not limited to the rows of one
 * table; writes in flight are completed and counted.
 * @throws ApiFailure the failure that ended the reading, if no row was stored and no line was bad
 */
export async function ingest(parts: AsyncIterable<BodyPart>, store: Store, clock: DecodeClock): Promise<Outcome> {
  const began = performance.now();
  const counts = new OutcomeCounts();
  const writes = new Writes(store, counts);
  let failure: ApiFailure | undefined;
  try {
    for await (const part of parts) {
      counts.addFaults(part.decoded.faults, part.textOf);
      if (part.decoded.rows.length > 0) await writes.add(part.decoded.rows, part.textOf);
      if (writes.failure !== undefined) break;
    }
  } catch (error) {
    // Rows that were stored before the body was truncated remain stored and are reported.
    if (!(error instanceof ApiFailure)) throw error;
    failure = error;
  } finally {
    await writes.end();
  }
  if (writes.failure !== undefined) failure = asFailure(writes.failure);
  const { stored, collapsed, badLines, badCount } = counts;
  if (failure !== undefined && stored + collapsed + badCount === 0) throw failure;
  const timings = { parseMs: clock.parseMs, databaseMs: writes.databaseMs, totalMs: performance.now() - began };
  return { stored, collapsed, badLines, badCount, failure, timings };
}

/** Converts an error of a write to a failure of the request. Throws unexpected errors, which the caller logs. */
export function asFailure(error: Error): ApiFailure {
  if (error instanceof ApiFailure) return error;
  if (!(error instanceof DatabaseError)) throw error;
  const failure = databaseFailure(error);
  if (error.scope !== 'infrastructure' || failure.status === 503) return failure;
  return new ApiFailure(503, failure.message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
}

class Writes {
  readonly #store: Store;
  readonly #counts: OutcomeCounts;
  readonly #running = new Set<Promise<void>>();
  /** The last write with rows of a table, by table. */
  readonly #lastOf = new Map<string, Promise<void>>();
  /** Number of running writes, and when the first of them began. */
  #busy = 0;
  #busySince = 0;
  #databaseMs = 0;
  #failure: Error | undefined;

  constructor(store: Store, counts: OutcomeCounts) {
    this.#store = store;
    this.#counts = counts;
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  get databaseMs(): number {
    return this.#databaseMs;
  }

  /** Starts a write, or queues it after earlier writes to the same tables. Resolves when another write may be added. */
  async add(all: readonly DecodedRows[], textOf: BodyPart['textOf']): Promise<void> {
    const tables = new Set(all.map(orderKey));
    const before = new Set([...tables].flatMap((table) => this.#lastOf.get(table) ?? []));
    const write = this.#after(before, all, textOf).finally(() => {
      this.#running.delete(write);
      for (const table of tables) if (this.#lastOf.get(table) === write) this.#lastOf.delete(table);
    });
    this.#running.add(write);
    for (const table of tables) this.#lastOf.set(table, write);
    if (this.#running.size >= MAX_IN_FLIGHT) await Promise.race(this.#running);
  }

  async end(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Writes batches after earlier writes. Never rejects; errors are stored in `failure`. */
  async #after(
    before: ReadonlySet<Promise<void>>,
    all: readonly DecodedRows[],
    textOf: BodyPart['textOf'],
  ): Promise<void> {
    await Promise.all(before);
    if (this.#failure !== undefined) return;
    if (this.#busy++ === 0) this.#busySince = performance.now();
    try {
      for (const settled of await this.#store(all)) {
        if (settled.status === 'rejected') {
          this.#failure ??= toError(settled.reason);
          continue;
        }
        this.#counts.addReport(settled.value);
        this.#counts.addFaults(settled.value.faults, textOf);
      }
    } catch (error) {
      this.#failure ??= toError(error);
    } finally {
      if (--this.#busy === 0) this.#databaseMs += performance.now() - this.#busySince;
    }
  }
}

/** Several metrics may share a table. The names of their tables begin with the text before the first dot of the metric. */
function orderKey({ metric, batch }: DecodedRows): string {
  return metric === undefined ? tableText(batch.table) : (metric.split('.')[0] ?? '');
}
