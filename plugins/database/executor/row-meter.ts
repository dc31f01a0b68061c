import type { RowGauge } from './api.ts';

/** A socket; the driver may be given another stream. */
export interface PausableStream {
  pause?(): void;
  resume?(): void;
}

/** The driver's message. */
interface DataRow {
  /** In bytes, with the length itself. */
  readonly length: number;
  readonly fields: readonly unknown[];
}

/** Length and number of values in a DataRow, and the length of each value. */
const ROW_HEAD_BYTES = 6;
const VALUE_HEAD_BYTES = 4;
/** At least so much stands between two values in whatever is written of them. */
const SEPARATOR_BYTES = 1;

/** Counts the rows of one stream and holds the server up while the caller makes room for them. */
export class RowMeter {
  readonly #gauge: RowGauge;
  #bytes = 0;
  #state: 'free' | 'asked' | 'refused' = 'free';
  /** Settles with the caller's answer; before it was asked, there is none to wait for. */
  settled: Promise<void> | undefined;

  constructor(gauge: RowGauge) {
    this.#gauge = gauge;
  }

  /** Whether the row is wanted. */
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
    // Whoever waits for the rows hears of it.
    this.settled.catch(() => undefined);
  }
}
