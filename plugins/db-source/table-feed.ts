import type { SourceCoordinates, TaskPart } from '../../src/index.ts';
import type { FeedReader } from './feed-reader.ts';
import type { RecordWriter } from './record-writer.ts';
import type { SourceTable } from './tables.ts';

/** A table of a task, with its reader, its writer and its counts. */
export class TableFeed implements TaskPart {
  readonly name: string;
  readonly partition: SourceCoordinates;
  table: SourceTable;
  reader: FeedReader;
  writer: RecordWriter;
  readonly counts = { rows: 0, records: 0, lateRows: 0, passedOver: 0, skippedRows: 0, failures: 0 };
  #error: string | undefined;
  /** Number of failures because of a changed table since the last page. */
  #failuresInARow = 0;

  constructor(
    name: string,
    partition: SourceCoordinates,
    parts: { table: SourceTable; reader: FeedReader; writer: RecordWriter },
  ) {
    this.name = name;
    this.partition = partition;
    this.table = parts.table;
    this.reader = parts.reader;
    this.writer = parts.writer;
  }

  get state(): 'RUNNING' | 'FAILED' {
    return this.#error === undefined ? 'RUNNING' : 'FAILED';
  }

  get error(): string | undefined {
    return this.#error;
  }

  get failuresInARow(): number {
    return this.#failuresInARow;
  }

  /** Sets the state to FAILED. Returns whether the message differs from the previous failure. */
  fail(message: string): boolean {
    const isNew = this.#error !== message;
    this.#error = message;
    this.counts.failures++;
    return isNew;
  }

  /** Counts a failure that the next refresh of the tables may resolve. */
  countFailure(): number {
    return ++this.#failuresInARow;
  }

  /** Sets the state to RUNNING. Returns whether the state was FAILED before. */
  recover(): boolean {
    const hadFailed = this.#error !== undefined;
    this.#error = undefined;
    this.#failuresInARow = 0;
    return hadFailed;
  }
}
