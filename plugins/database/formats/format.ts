import type { ByteWriter } from '../../../src/data/byte-writer.ts';
import type { Fault, Origin } from '../../../src/data/fault.ts';
import type { MessageBlock } from '../../../src/data/message-block.ts';
import type { ColumnRole, RowBatch } from '../../../src/data/row-batch.ts';
import type { CellBounds } from '../../../src/data/row-block.ts';
import type { TableShape } from '../../../src/data/table-shape.ts';
import type { ChangeKind } from '../sql/change-statement.ts';

/** Unit of times that do not specify their own. */
export type Precision = 's' | 'ms' | 'us' | 'ns';

/** A batch of rows, with the description of its table, if any. */
export interface DecodedRows {
  readonly batch: RowBatch;
  readonly shape: TableShape | undefined;
  /**
   * Set if the batch contains the points of one metric. The batch is named after the metric until metric-target.ts
   * determines whether the metric is a table name, or a table and one of its columns.
   */
  readonly metric?: string | undefined;
  /**
   * The rows have only some of their table's columns. They must be written with the rule `merge`, regardless of the
   * rule for whole rows, so that stored rows keep their other cells.
   */
  readonly partial?: boolean | undefined;
  /**
   * Name of the tag that holds the table's name, for messages without tags. `fitNameTag` (fit-table.ts) removes the tag
   * if the table does not need it.
   */
  readonly nameTag?: string | undefined;
}

/** A statement that is executed unchanged: SQL received as data (docs/formats.md#cdc_db), or a truncation. */
export interface DecodedStatement {
  readonly sql: string;
  readonly kind: ChangeKind;
  /** The affected schema and table, if the message specifies them. */
  readonly schema: string | undefined;
  readonly table: string | undefined;
  readonly origin: Origin;
}

/** A statement is a barrier: preceding rows are stored before it runs, and following rows afterwards. */
export type DecodedPart =
  | { readonly kind: 'rows'; readonly rows: DecodedRows }
  | { readonly kind: 'statement'; readonly statement: DecodedStatement };

/** Result of decoding: rows by table in order of first occurrence, and the faults of unreadable messages. */
export interface Decoded {
  readonly rows: readonly DecodedRows[];
  readonly faults: readonly Fault[];
  /** Rows and statements in order; set only if there are statements. `rows` then contains all rows as well. */
  readonly parts?: readonly DecodedPart[] | undefined;
}

/**
 * Collects messages into row batches. Invalid data never throws: a message that cannot be read becomes a fault with its
 * origin, and does not affect other messages.
 */
export interface Decoder {
  /** Adds a message, which may contain one or more lines or rows depending on the format. */
  add(message: string | Uint8Array, origin: Origin): void;
  /**
   * Adds the messages of a block, starting at `from`, until one of them cannot be read in place, for example because
   * its table or its tags are new. Returns the index of the first message that was not added and has to be passed to
   * `add`, or `to` if all were added. Decoders without this method read messages one by one.
   */
  addBlock?(block: MessageBlock, from: number, to: number): number;
  /** Returns the rows and faults since the last call, and resets the decoder. */
  take(): Decoded;
  /** Number of rows waiting to be taken; a statement counts as one. */
  readonly rowCount: number;
}

/** A table to encode, such as a `Table` of the catalogue. */
export interface EncodedTable {
  readonly name: { readonly name: string };
  /** In the order of the rows' cells. */
  readonly columns: readonly {
    readonly name: string;
    /** As printed by `format_type`: `timestamp(3) with time zone`, `character varying(64)`, `bigint`. */
    readonly type: string;
    readonly nullable: boolean;
    readonly role: ColumnRole;
  }[];
}

/** Encodes rows of one table as messages. */
export interface RowEncoder {
  /**
   * Encodes a row as one line, or as several lines in formats with `rowsAreLines` (registry.ts). Cells are in
   * PostgreSQL's text format (DateStyle ISO, bytea_output hex) and in the order of the table's columns; additional
   * cells are ignored. Returns `null` if the format cannot represent anything of this row.
   */
  encode(row: readonly (string | null)[]): string | null;
  /**
   * Writes the result of `encode` for a row whose cells are UTF-8 in `bytes`. Returns false if the format cannot
   * represent anything of this row; then, or if an error is thrown, the output must be discarded. Encoders without this
   * method support only `encode`.
   */
  write?(bytes: Buffer, cells: CellBounds, out: ByteWriter): boolean;
  /**
   * Returns the text of this row in a message of several rows; an empty string if the format cannot represent anything
   * of the row.
   */
  rowText(row: readonly (string | null)[]): string;
  /** Separates the texts of rows. */
  readonly separator: string;
  /** Combines the texts of several rows into a message. Returns `null` for an empty text. */
  message(rowTexts: string): string | null;
}

/** Returns the decoded parts in order, even if there are no statements. */
export function partsOf(decoded: Decoded): readonly DecodedPart[] {
  return decoded.parts ?? decoded.rows.map((rows) => ({ kind: 'rows', rows }));
}
