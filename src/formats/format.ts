import type { Fault, Origin } from '../data/fault.ts';
import type { RowBatch } from '../data/row-batch.ts';
import type { TableShape } from '../data/table-shape.ts';

/** How a decoder reads times that carry no unit of their own. */
export type Precision = 's' | 'ms' | 'us' | 'ns';

/** One batch of rows with what the text said about their table. */
export interface DecodedRows {
  readonly batch: RowBatch;
  readonly shape: TableShape | undefined;
}

/** What decoding gave: rows by table, in first-seen order, and what could not be read. */
export interface Decoded {
  readonly rows: readonly DecodedRows[];
  readonly faults: readonly Fault[];
}

/**
 * Collects messages into row batches. A decoder never throws for data and never knows who called it: a message that
 * cannot be read becomes a fault with its origin, and its neighbours are not touched.
 */
export interface Decoder {
  /** Adds one message (one or more lines or rows, by format). */
  add(message: string | Uint8Array, origin: Origin): void;
  /** Rows and faults since the last take; resets the decoder. */
  take(): Decoded;
  /** Rows waiting to be taken. */
  readonly rowCount: number;
}
