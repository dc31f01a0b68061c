import { EventEmitter } from 'node:events';
import pg from 'pg';
import type { RowCollector } from './row-collector.ts';

const DATA_ROW = 0x44;
/** Message type and length; the length includes itself. */
const HEAD_BYTES = 5;
const NOTHING = Buffer.alloc(0);

/** Members of the driver's connection that its types omit. */
const DriverConnection = pg.Connection as unknown as new (options: object) => EventEmitter & {
  attachListeners(stream: EventEmitter): void;
};

/**
 * Extends the driver's connection to collect rows in the server's format. This saves the driver's conversion of each
 * row to an array of strings, which takes 0.5 µs for a row of four cells. All messages other than collected rows are
 * passed to the driver.
 */
export class RowTap extends DriverConnection {
  readonly #driver = new EventEmitter();
  #collector: RowCollector | undefined;
  /** An incomplete message header. */
  #head = NOTHING;
  /** Remaining bytes of the current message, and whether it is a collected row. */
  #remaining = 0;
  #restIsRow = false;

  /** Sets the collector of subsequent rows; `undefined` passes them to the driver. */
  collect(collector: RowCollector | undefined): void {
    this.#collector = collector;
  }

  /** Called by the driver with the stream to read: the TLS stream if there is one. */
  override attachListeners(stream: EventEmitter): void {
    super.attachListeners(this.#driver);
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    stream.on('end', () => this.#driver.emit('end'));
  }

  #take(chunk: Buffer): void {
    const data = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    this.#head = NOTHING;
    let at = Math.min(this.#remaining, data.length);
    this.#remaining -= at;
    let run = 0;
    let isRow = this.#restIsRow;
    let wasRow = isRow;
    while (data.length - at >= HEAD_BYTES) {
      const isDataRow = data[at] === DATA_ROW;
      if (isDataRow && !wasRow) {
        // The driver must process the preceding messages first, because they may set the collector.
        this.#forward(data, run, at, false);
        run = at;
      }
      wasRow = isDataRow;
      const isCollected = isDataRow && this.#collector !== undefined;
      if (isCollected !== isRow) {
        this.#forward(data, run, at, isRow);
        run = at;
        isRow = isCollected;
      }
      if (isCollected) this.#collector?.begin(this.#collector.length + at - run + HEAD_BYTES);
      const end = at + 1 + data.readUInt32BE(at + 1);
      at = Math.min(end, data.length);
      this.#remaining = end - at;
    }
    this.#restIsRow = isRow;
    this.#forward(data, run, at, isRow);
    if (at < data.length) this.#head = Buffer.from(data.subarray(at));
  }

  #forward(data: Buffer, start: number, end: number, isRow: boolean): void {
    if (start === end) return;
    if (isRow) this.#collector?.append(data, start, end);
    else this.#driver.emit('data', data.subarray(start, end));
  }
}
