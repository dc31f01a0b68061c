import { ConnectError, type SinkRecord } from '../../src/index.ts';
import { DatabaseError, partsOf, type DecodedPart, type Fault, type Origin } from '../database/index.ts';
import type { RecordDecoder } from './record-decoder.ts';
import { refusals } from './refusals.ts';
import type { TableWriter } from './table-writer.ts';
import type { SealedBatch, WaitingRecords } from './waiting-records.ts';

/** The records of a batch that were not stored, and why. */
export interface Undone {
  readonly records: WaitingRecords;
  readonly faults: readonly Fault[];
  /** In place of faults: no record is to be blamed. */
  readonly error?: DatabaseError;
}

/**
 * Does all of a batch, or its first records; each change of the database wholly or not at all. `mayGrow`: tables may be created
 * and changed for it. `onDone` gets the last record up to which everything is stored and should not be stored again.
 */
export type Attempt = (
  batch: SealedBatch,
  options: { readonly mayGrow: boolean; readonly onDone: (origin: Origin) => void },
  signal: AbortSignal,
) => Promise<Undone | undefined>;

export type Refuse = (record: SinkRecord, error: Error) => Promise<void>;

/**
 * Does batches in the order of its records up to the first one that is refused, for `errors.tolerance=none`: all in front of it is
 * stored, and nothing behind it is stored or run. The batch is tried as a whole, which is the one attempt that is made as long as
 * nothing fails; then its halves, until the record is found. Tables are created and changed for a record alone, when all in
 * front of it is stored.
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

  /** `onLeft` is called with what is left of the batch. Rejects as `attempt` and `refuse` do. */
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
      // A decoder that has seen later records describes tables with their columns too, which must not be added for this one.
      next = { records, decoded: await records.decode(this.#createDecoder()) };
    }
  }
}

/** Resolves when the record is left out. */
async function refuseOne({ records, faults, error }: Undone, refuse: Refuse): Promise<void> {
  if (error !== undefined) throw error;
  const refused = await refusals(records, faults);
  if (refused.length === 0) throw new ConnectError('A record was neither stored nor refused');
  for (const [record, reason] of refused) await refuse(record, reason);
}

/** Rows between two statements are stored in one transaction, where they need one; each statement runs by itself. */
export function attemptWith(writer: TableWriter): Attempt {
  return async ({ records, decoded }, { mayGrow, onDone }, signal) => {
    if (decoded.faults.length > 0) return { records, faults: decoded.faults };
    let last: Origin | undefined;
    for (const step of stepsOf(partsOf(decoded))) {
      try {
        const faults = await writer.writeWholly(step, mayGrow, signal);
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

/** The records from a step on; `last` is the statement before it. */
function from([part]: readonly DecodedPart[], records: WaitingRecords, last: Origin | undefined): WaitingRecords {
  if (part?.kind === 'statement') return records.splitBefore(part.statement.origin)[1];
  return last === undefined ? records : records.splitBehind(last)[1];
}

/** A statement by itself, or all rows up to the next one. */
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
