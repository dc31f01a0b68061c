import {
  DataError,
  DatabaseError,
  partsOf,
  type DecodedPart,
  type Fault,
  type SinkRecord,
  type SinkRecordBlock,
} from '../../src/index.ts';
import type { RecordDecoder } from './record-decoder.ts';
import { WaitingRecords } from './waiting-records.ts';

/** What a lane needs from its task. */
export interface LaneParts {
  readonly decoder: RecordDecoder;
  /** Stores rows of one table or runs one statement, retries included; gives what was refused. */
  readonly write: (part: DecodedPart) => Promise<readonly Fault[]>;
  /** By Connect's error policy; rejects when the task must fail. */
  readonly refuse: (record: SinkRecord, error: Error) => Promise<void>;
  /** Called when a write in the background failed, so that the task gets a turn to say so. */
  readonly onFailure: () => void;
  readonly batchRows: number;
}

/** Bounds what is kept of records that hold no rows (comments, faults). */
const MAX_WAITING_RECORDS = 20_000;

/**
 * Writes the records of some partitions, in order: while one batch is with the database the next one is decoded, and what
 * has come until then goes out together. Lanes work side by side, so that the database and this process need not take
 * turns; a partition always stays on its lane.
 *
 * States: idle -> writing -> idle; failed after an error, for good: the task ends with it.
 */
export class WriteLane {
  readonly #parts: LaneParts;
  #waiting = new WaitingRecords();
  #inFlight = new WaitingRecords();
  #writing: Promise<void> | undefined;
  #failure: Error | undefined;

  constructor(parts: LaneParts) {
    this.#parts = parts;
  }

  /** Decodes a record; `true` when a full batch waits, then `roomForMore` must be awaited before the next. */
  add(record: SinkRecord): boolean {
    const { topic, partition, offset } = record.original;
    this.#waiting.add(record);
    this.#parts.decoder.add(record, { kind: 'record', topic, partition, offset });
    return this.#isFull();
  }

  /** Decodes a block, where it lies as far as possible, and waits for room in between. */
  async addBlock(block: SinkRecordBlock): Promise<void> {
    const { decoder, batchRows } = this.#parts;
    for (let index = 0; index < block.count;) {
      const end = Math.min(block.count, index + Math.max(1, batchRows - decoder.rowCount));
      const reached = decoder.addBlock?.(block, index, end) ?? index;
      if (reached > index) this.#waiting.addBlock(block, index, reached);
      index = reached;
      if (index < end) {
        const made = block.sinkRecord(index);
        const record = made instanceof Promise ? await made : made;
        if (record !== undefined) this.add(record);
        index++;
      }
      if (this.#isFull()) await this.roomForMore();
    }
  }

  /** Waits until the batch before is stored, then sends out what waits. Rejects with a failure of the batch before. */
  async roomForMore(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    this.check();
    this.start();
  }

  /** Sends out what waits, unless a write is on its way: then it follows that one. */
  start(): void {
    if (this.#writing !== undefined || this.#waiting.count === 0) return;
    this.#writing = this.#drain().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Resolves when nothing waits and nothing is on its way. */
  async flush(): Promise<void> {
    this.check();
    while (this.#waiting.count > 0 || this.#writing !== undefined) {
      this.start();
      await this.#writing;
      this.check();
    }
  }

  /** The first offset of the partition that is not stored; `undefined` when all that was added is. */
  firstUnstored(key: string): number | undefined {
    return this.#inFlight.firstOffsets.get(key) ?? this.#waiting.firstOffsets.get(key);
  }

  /** Throws what went wrong in the background, if anything did. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Waits for the write on its way and forgets what waits: the partitions are gone. */
  async drop(): Promise<void> {
    this.#waiting = new WaitingRecords();
    this.#parts.decoder.take();
    await this.#writing;
  }

  /** Never rejects: the failure is kept for the next call. */
  async #drain(): Promise<void> {
    try {
      while (this.#waiting.count > 0 && this.#failure === undefined) await this.#writeWaiting();
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
      this.#parts.onFailure();
    }
  }

  async #writeWaiting(): Promise<void> {
    const records = this.#waiting;
    const decoded = this.#parts.decoder.take();
    this.#inFlight = records;
    this.#waiting = new WaitingRecords();
    const refused = [...decoded.faults];
    for (const part of partsOf(decoded)) refused.push(...(await this.#parts.write(part)));
    for (const [record, error] of await refusals(records, refused)) await this.#parts.refuse(record, error);
    this.#inFlight = new WaitingRecords();
  }

  #isFull(): boolean {
    return this.#parts.decoder.rowCount >= this.#parts.batchRows || this.#waiting.count >= MAX_WAITING_RECORDS;
  }
}

/** One error per record, whatever the number of its rows that were refused, in record order. */
async function refusals(records: WaitingRecords, faults: readonly Fault[]): Promise<[SinkRecord, Error][]> {
  const byOrigin = new Map<string, Fault[]>();
  for (const fault of faults) {
    const key = JSON.stringify(fault.origin);
    const known = byOrigin.get(key);
    if (known === undefined) byOrigin.set(key, [fault]);
    else known.push(fault);
  }
  const refused: [SinkRecord, Error][] = [];
  for (const own of byOrigin.values()) {
    const record = await records.find(own[0]?.origin);
    if (record === undefined) throw new DataError(`A fault has no record: ${own.map(describeFault).join('; ')}`);
    refused.push([record, refusal(own)]);
  }
  return refused.sort(([a], [b]) => byPlace(a.original, b.original));
}

function byPlace(a: SinkRecord['original'], b: SinkRecord['original']): number {
  if (a.topic !== b.topic) return a.topic < b.topic ? -1 : 1;
  return a.partition - b.partition || a.offset - b.offset;
}

const MAX_FAULTS_NAMED = 3;

function refusal(faults: readonly Fault[]): Error {
  const named = faults.slice(0, MAX_FAULTS_NAMED).map(describeFault).join('; ');
  const more = faults.length > MAX_FAULTS_NAMED ? ` (and ${String(faults.length - MAX_FAULTS_NAMED)} more)` : '';
  const first = faults[0];
  const cause = first?.cause;
  if (first?.sqlstate === undefined) return new DataError(named + more, { cause });
  return new DatabaseError(named + more, { scope: first.scope, sqlstate: first.sqlstate, column: first.column, cause });
}

/** The fault without its origin: whoever reports the record adds its coordinates. */
function describeFault({ table, column, message }: Fault): string {
  const place = [table === undefined ? '' : `table ${table}`, column === undefined ? '' : `column ${column}`]
    .filter((part) => part !== '' && !message.includes(part))
    .join(', ');
  return place === '' ? message : `${place}: ${message}`;
}
