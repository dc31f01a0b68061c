import type { RowGauge } from './api.ts';

/** A socket, or another stream that the driver uses. */
export interface PausableStream {
  pause?(): void;
  resume?(): void;
}

interface DataRow {
  /** Size of the row in bytes, including the length field itself. */
  readonly length: number;
  readonly fields: readonly unknown[];
}

/** A DataRow begins with its length and the number of its values. */
const ROW_HEAD_BYTES = 6;
/** Each value of a DataRow begins with its length. */
const VALUE_HEAD_BYTES = 4;
/** Minimum size of the separator between two values in any output format. */
const SEPARATOR_BYTES = 1;

/** Counts the bytes of a result and pauses reading while the caller makes room. */
export class RowMeter {
  readonly #gauge: RowGauge;
  #bytes = 0;
  #state: 'free' | 'asked' | 'refused' = 'free';
  /** The promise returned by `room`; `undefined` before the call. */
  settled: Promise<void> | undefined;

  constructor(gauge: RowGauge) {
    this.#gauge = gauge;
  }

  /** Counts a row; returns false if the row must be dropped. */
  takes({ length, fields }: DataRow, stream: PausableStream | undefined): boolean {
    if (this.#bytes >= this.#gauge.maxBytes || this.#state === 'refused') return false;
    this.#bytes += length - ROW_HEAD_BYTES - (VALUE_HEAD_BYTES - SEPARATOR_BYTES) * fields.length;
    if (this.#state === 'free' && this.#bytes >= this.#gauge.freeBytes) this.#ask(stream);
    return true;
  }

  #ask(stream: PausableStream | undefined): void {
    this.#state = 'asked';
    stream?.pause?.();
    this.settled = this.#gauge
      .room()
      .catch((error: unknown) => {
        this.#state = 'refused';
        throw error;
      })
      .finally(() => stream?.resume?.());
    // The reader of the rows handles the rejection.
    this.settled.catch(() => undefined);
  }
}
