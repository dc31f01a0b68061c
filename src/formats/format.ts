import type { Fault, Origin } from '../data/fault.ts';
import type { ColumnRole, RowBatch } from '../data/row-batch.ts';
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

/** What an encoder must know of a table; the catalogue's tables fit. */
export interface EncodedTable {
  readonly name: { readonly name: string };
  /** In the order of the rows' cells. */
  readonly columns: readonly {
    readonly name: string;
    /** As `format_type` prints it: `timestamp(3) with time zone`, `character varying(64)`, `bigint`. */
    readonly type: string;
    readonly nullable: boolean;
    readonly role: ColumnRole;
  }[];
}

/** Turns rows of one table into messages. */
export interface RowEncoder {
  /**
   * One line for one row, whose cells are PostgreSQL's text in the order of the table's columns (DateStyle ISO, bytea_output
   * hex; further cells are ignored). `null`: the format cannot say anything of this row.
   */
  encode(row: readonly (string | null)[]): string | null;
}
