import type { ByteWriter } from '../../../src/data/byte-writer.ts';
import type { Fault, Origin } from '../../../src/data/fault.ts';
import type { MessageBlock } from '../../../src/data/message-block.ts';
import type { ColumnRole, RowBatch } from '../../../src/data/row-batch.ts';
import type { CellBounds } from '../../../src/data/row-block.ts';
import type { TableShape } from '../../../src/data/table-shape.ts';

/** How a decoder reads times that carry no unit of their own. */
export type Precision = 's' | 'ms' | 'us' | 'ns';

/** One batch of rows with what the text said about their table. */
export interface DecodedRows {
  readonly batch: RowBatch;
  readonly shape: TableShape | undefined;
  /**
   * The batch is the points of one metric and its table is named by it for now: before it is written, metric-target.ts says
   * whether the metric is a table's name or that of a table and one of its columns.
   */
  readonly metric?: string | undefined;
  /**
   * The rows have only some of their table's columns. They are to be written by the rule `merge`, whatever the rule for whole
   * rows is, so that a stored row keeps its other cells.
   */
  readonly partial?: boolean | undefined;
  /**
   * Name of the column that stands for tags where the message has none: it holds the table's name, and goes where the table is not
   * one of time series.
   */
  readonly nameTag?: string | undefined;
}

/** SQL that came as data, to be run as it is in the database that it names (docs/formats.md#cdc_db). */
export interface DecodedStatement {
  readonly sql: string;
  readonly kind: 'update' | 'delete' | 'create' | 'alter' | 'drop';
  readonly database: string;
  /** The schema and table that it is about, as far as the message says so. */
  readonly schema: string | undefined;
  readonly table: string | undefined;
  readonly origin: Origin;
}

/** A statement is a barrier: rows before it are stored before it runs, rows behind it after it ran. */
export type DecodedPart =
  | { readonly kind: 'rows'; readonly rows: DecodedRows }
  | { readonly kind: 'statement'; readonly statement: DecodedStatement };

/** What decoding gave: rows by table, in first-seen order, and what could not be read. */
export interface Decoded {
  readonly rows: readonly DecodedRows[];
  readonly faults: readonly Fault[];
  /**
   * Rows and statements in the order in which they are to be done; only when there are statements. `rows` then has the rows
   * of all parts, in the same order.
   */
  readonly parts?: readonly DecodedPart[] | undefined;
}

/**
 * Collects messages into row batches. A decoder never throws for data and never knows who called it: a message that
 * cannot be read becomes a fault with its origin, and its neighbours are not touched.
 */
export interface Decoder {
  /** Adds one message (one or more lines or rows, by format). */
  add(message: string | Uint8Array, origin: Origin): void;
  /**
   * Adds the messages of a block from `from` on, as long as each is of a kind that was seen before and can be read where it
   * lies; gives the index of the first that was not added, or `to`. That one is for `add`. A decoder without it reads
   * messages one by one.
   */
  addBlock?(block: MessageBlock, from: number, to: number): number;
  /** Rows and faults since the last take; resets the decoder. */
  take(): Decoded;
  /** Rows waiting to be taken; a statement counts as one. */
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
  /**
   * Writes what `encode` gives of a row whose cells lie in these bytes, as UTF-8. `false`: the format cannot say anything of this
   * row. What was written is worth nothing then, nor when an error is thrown. An encoder without it has `encode` alone.
   */
  write?(bytes: Buffer, cells: CellBounds, out: ByteWriter): boolean;
  /** What a row adds to a message of several rows; empty where the format cannot say anything of it. */
  rowText(row: readonly (string | null)[]): string;
  /** What stands between the texts of rows. */
  readonly separator: string;
  /** One message of the texts of several rows, read back as those rows. `null` for an empty text. */
  message(rowTexts: string): string | null;
}

/** What was decoded as parts, in order, whether or not there are statements. */
export function partsOf(decoded: Decoded): readonly DecodedPart[] {
  return decoded.parts ?? decoded.rows.map((rows) => ({ kind: 'rows', rows }));
}
