import { EventEmitter } from 'node:events';
import pg from 'pg';
import type { RowCollector } from './row-collector.ts';

const DATA_ROW = 0x44;
/** The kind of a message, and its length, which counts itself. */
const HEAD_BYTES = 5;
const NOTHING = Buffer.alloc(0);

/** What the driver's types leave out. */
const DriverConnection = pg.Connection as unknown as new (options: object) => EventEmitter & {
  attachListeners(stream: EventEmitter): void;
};

/**
 * The driver's connection, beside which rows can be collected as the server sent them: the driver makes an array of strings of each
 * row, 0.5 µs for a row of four cells. All messages but collected rows are the driver's.
 */
export class RowTap extends DriverConnection {
  readonly #driver = new EventEmitter();
  #collector: RowCollector | undefined;
  /** The beginning of a message that is too short to tell what it is. */
  #head = NOTHING;
  /** Bytes that are still to come of a message, and whose it is. */
  #rest = 0;
  #restIsRow = false;

  /** Rows that come from here on are this collector's; `undefined`: the driver's. */
  collect(collector: RowCollector | undefined): void {
    this.#collector = collector;
  }

  /** Called by the driver, with the stream that is read: that of TLS, if there is one. */
  override attachListeners(stream: EventEmitter): void {
    super.attachListeners(this.#driver);
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    stream.on('end', () => this.#driver.emit('end'));
  }

  #take(chunk: Buffer): void {
    const data = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    this.#head = NOTHING;
    let at = Math.min(this.#rest, data.length);
    this.#rest -= at;
    let run = 0;
    let isRow = this.#restIsRow;
    let wasRow = isRow;
    while (data.length - at >= HEAD_BYTES) {
      const isDataRow = data[at] === DATA_ROW;
      if (isDataRow && !wasRow) {
        // The driver must have seen what comes before: it may say whose the rows are.
        this.#give(data, run, at, false);
        run = at;
      }
      wasRow = isDataRow;
      const isCollected = isDataRow && this.#collector !== undefined;
      if (isCollected !== isRow) {
        this.#give(data, run, at, isRow);
        run = at;
        isRow = isCollected;
      }
      if (isCollected) this.#collector?.begin(this.#collector.length + at - run + HEAD_BYTES);
      const end = at + 1 + data.readUInt32BE(at + 1);
      at = Math.min(end, data.length);
      this.#rest = end - at;
    }
    this.#restIsRow = isRow;
    this.#give(data, run, at, isRow);
    if (at < data.length) this.#head = Buffer.from(data.subarray(at));
  }

  #give(data: Buffer, start: number, end: number, isRow: boolean): void {
    if (start === end) return;
    if (isRow) this.#collector?.append(data, start, end);
    else this.#driver.emit('data', data.subarray(start, end));
  }
}
