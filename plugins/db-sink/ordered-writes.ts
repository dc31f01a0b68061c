import { ConnectError, type SinkRecord } from '../../src/index.ts';
import { DatabaseError, partsOf, type DecodedPart, type Fault, type Origin } from '../database/index.ts';
import type { RecordDecoder } from './record-decoder.ts';
import { refusals } from './refusals.ts';
import type { TableWriter } from './table-writer.ts';
import type { SealedBatch, WaitingRecords } from './waiting-records.ts';

/** The records of a batch that were not stored, and the reason. */
export interface FailedRecords {
  readonly records: WaitingRecords;
  readonly faults: readonly Fault[];
  /** Set instead of faults if the error is not caused by a record. */
  readonly error?: DatabaseError;
}

/**
 * Stores a batch, or only its first records. Rows that belong together, such as all rows up to the next statement, are
 * stored completely or not at all. `mayGrow` permits creating and changing tables. `onDone` is called with the origin
 * of a record once all records up to and including that record are stored and must not be stored again. Returns the
 * records that were not stored.
 */
export type Attempt = (
  batch: SealedBatch,
  options: { readonly mayGrow: boolean; readonly onDone: (origin: Origin) => void },
  signal: AbortSignal,
) => Promise<FailedRecords | undefined>;

export type Refuse = (record: SinkRecord, error: Error) => Promise<void>;

/**
 * Writes batches in record order up to the first refused record, for `errors.tolerance=none`: all preceding records are
 * stored, and no later record is stored or executed. The whole batch is attempted first; if that fails, it is bisected
 * until the refused record is found. Tables are created and changed only for a single record whose predecessors are all
 * stored.
 */
export class OrderedWrites {
  readonly #attempt: Attempt;
  readonly #createDecoder: () => RecordDecoder;
  readonly #refuse: Refuse;

  constructor(attempt: Attempt, createDecoder: () => RecordDecoder, refuse: Refuse) {
    this.#attempt = attempt;
    this.#createDecoder = createDecoder;
    this.#refuse = refuse;
  }

  /**
   * Writes a batch. `onLeft` is called with the remaining records after each attempt that stored or skipped records,
   * except after one that stored all of the remaining records. Rejects as `attempt` and `refuse` do.
   */
  async do(
    batch: SealedBatch,
    onDone: (origin: Origin) => void,
    onLeft: (records: WaitingRecords) => void,
    signal: AbortSignal,
  ): Promise<void> {
    let rest = batch.records;
    let next = batch;
    for (;;) {
      const { count } = next.records;
      const undone = await this.#attempt(next, { mayGrow: count === 1, onDone }, signal);
      if (undone === undefined && count === rest.count) return;
      let done = count - (undone?.records.count ?? 0);
      if (undone !== undefined && count === 1) {
        await refuseOne(undone, this.#refuse);
        done = 1;
      }
      if (done > 0) {
        [, rest] = rest.splitAt(done);
        onLeft(rest);
        if (rest.count === 0) return;
      }
      const size = undone === undefined ? count * 2 : Math.max(1, undone.records.count >>> 1);
      const [records] = rest.splitAt(size);
      // Each further attempt has a new decoder: one that has seen later records would also describe their columns,
      // which must not be added for this record.
      next = { records, decoded: await records.decode(this.#createDecoder()) };
    }
  }
}

/** Resolves once the record was reported and may be skipped. */
async function refuseOne({ records, faults, error }: FailedRecords, refuse: Refuse): Promise<void> {
  if (error !== undefined) throw error;
  const refused = await refusals(records, faults);
  if (refused.length === 0) throw new ConnectError('A record was neither stored nor refused');
  for (const [record, reason] of refused) await refuse(record, reason);
}

/** Stores the rows between two statements together, all or none of them, and runs each statement separately. */
export function attemptWith(writer: TableWriter): Attempt {
  return async ({ records, decoded }, { mayGrow, onDone }, signal) => {
    if (decoded.faults.length > 0) return { records, faults: decoded.faults };
    let last: Origin | undefined;
    for (const step of stepsOf(partsOf(decoded))) {
      try {
        const faults = await writer.writeAtomically(step, mayGrow, signal);
        if (faults.length > 0) return { records: from(step, records, last), faults };
      } catch (error) {
        if (error instanceof DatabaseError && error.scope !== 'infrastructure') {
          return { records: from(step, records, last), faults: [], error };
        }
        if (last !== undefined) onDone(last);
        throw error;
      }
      const [part] = step;
      if (part?.kind !== 'statement') continue;
      last = part.statement.origin;
      if (changesTables(part.statement.kind)) onDone(last);
    }
    return undefined;
  };
}

/** Returns the records from a step on; `last` is the origin of the preceding statement. */
function from([part]: readonly DecodedPart[], records: WaitingRecords, last: Origin | undefined): WaitingRecords {
  if (part?.kind === 'statement') return records.splitBefore(part.statement.origin)[1];
  return last === undefined ? records : records.splitAfter(last)[1];
}

/** Groups the parts: each statement separately, and all rows up to the next statement together. */
function stepsOf(parts: readonly DecodedPart[]): DecodedPart[][] {
  const steps: DecodedPart[][] = [];
  let rows: DecodedPart[] | undefined;
  for (const part of parts) {
    if (part.kind === 'statement') {
      steps.push([part]);
      rows = undefined;
    } else if (rows === undefined) steps.push((rows = [part]));
    else rows.push(part);
  }
  return steps;
}

export function changesTables(kind: string): boolean {
  return kind === 'create' || kind === 'alter' || kind === 'drop';
}
