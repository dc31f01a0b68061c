import { RowBatchBuilder, type OpenColumn } from '../../../../src/data/row-batch-builder.ts';
import type { ColumnShape, TableShape } from '../../../../src/data/table-shape.ts';
import { fits } from '../cell-kinds.ts';
import { MAX_COLUMNS, type ScannedLine } from './line-scan.ts';
import { KIND_OF_LINE_TYPE, type LineType } from './line-value.ts';
import { NANOS_COLUMN } from '../nanoseconds.ts';
import { PRIMARY_TAG } from '../primary-tag.ts';

/** Length in bytes of a VARCHAR without a declared length (docs/formats.md#tables-of-lines-and-points). */
const DEFAULT_LENGTH = 254;
/** Length of the primary tag (docs/formats.md#the-primary-tag). */
const PRIMARY_TAG_LENGTH = 64;

/** A field of a line shape. `text` is its key as written, including `=`; `column` belongs to the shape's batch. */
export interface ShapeField {
  readonly key: string;
  readonly text: string;
  type: LineType;
  column: OpenColumn | undefined;
}

/** Lines of a table whose tags and fields have the same names in the same order. */
export interface LineShape {
  readonly tagKeys: TagKeys;
  readonly fields: readonly ShapeField[];
  /** The batch that contains the columns below; `undefined` before the first line. */
  batch: RowBatchBuilder | undefined;
  time: OpenColumn | undefined;
  nanos: OpenColumn | undefined;
  tags: readonly OpenColumn[];
  derivedTag: OpenColumn | undefined;
  /** Indexes of the rows with an explicit primary tag; set if the batch derives the primary tag of its other rows. */
  givenRows: number[] | undefined;
}

/**
 * A list of tag names, and the shapes of the lines with these tags. The key of a shape is the text of its field names.
 */
export interface TagKeys {
  readonly names: readonly string[];
  readonly shapes: Map<string, LineShape>;
  /** The shape of the line that was parsed last. */
  latest: LineShape | undefined;
}

/** A measurement with a set of tag values, identified by their text in the line. */
export interface Series {
  readonly text: string;
  /** The series of the line that followed this series at its last occurrence; senders usually repeat their order. */
  next: Series | undefined;
  readonly table: LineTable;
  readonly tagKeys: TagKeys;
  readonly tagValues: readonly string[];
  primaryTag: string | undefined;
  shape: LineShape | undefined;
}

/** The decoder's state of a table. */
export interface LineTable {
  readonly name: string;
  readonly tagKeys: Map<string, TagKeys>;
  /** The batch for the next row; `undefined` after `take` of the decoder (line-lp.ts). */
  open: LineBatch | undefined;
}

interface LineBatchPolicy {
  readonly derivesPrimaryTag: boolean;
  readonly keepsNanoseconds: boolean;
}

/** A batch of lines. The types of its columns follow from the spelling of the values. */
export class LineBatch {
  readonly rows: RowBatchBuilder;
  readonly derivesPrimaryTag: boolean;
  readonly #types = new Map<string, LineType>();

  constructor(table: string, timeColumn: string, { derivesPrimaryTag, keepsNanoseconds }: LineBatchPolicy) {
    this.rows = new RowBatchBuilder({ name: table });
    this.rows.addColumn(timeColumn, 'time', 'time');
    if (keepsNanoseconds) this.rows.addColumn(NANOS_COLUMN, 'nanos', 'int');
    if (derivesPrimaryTag) this.rows.addDerivedColumn(PRIMARY_TAG, 'primary-tag', 'text');
    this.derivesPrimaryTag = derivesPrimaryTag;
  }

  /**
   * The first value determines the type; later values may only widen it (docs/formats.md#tables-of-lines-and-points).
   */
  recordType(column: string, type: LineType): void {
    const known = this.#types.get(column);
    const wider =
      known === undefined || (WIDTH[known].family === WIDTH[type].family && WIDTH[known].width < WIDTH[type].width);
    if (wider) this.#types.set(column, type);
  }

  /** Returns the shape of the table that these rows need: time, fields, then tags. */
  shape(): TableShape {
    const byRole = (...roles: string[]) => this.rows.columns.filter((column) => roles.includes(column.role));
    const columns = [...byRole('time', 'nanos'), ...byRole('data'), ...byRole('primary-tag'), ...byRole('tag')];
    return { exact: false, columns: columns.map((column) => this.#columnShape(column)) };
  }

  #columnShape(column: OpenColumn): ColumnShape {
    const { name, role } = column;
    const required = role === 'time' || role === 'primary-tag';
    if (role === 'nanos') return { name, role, type: 'INT2', length: undefined, nullable: false };
    if (role === 'time') return { name, role, type: 'TIMESTAMPTZ', length: undefined, nullable: false };
    const type = WIDTH[this.#types.get(name) ?? 'VARCHAR'].column;
    const length =
      type === 'VARCHAR' || type === 'NVARCHAR'
        ? longest(column, role === 'primary-tag' ? PRIMARY_TAG_LENGTH : DEFAULT_LENGTH)
        : undefined;
    return { name, role, type, length, nullable: !required };
  }
}

function longest(column: OpenColumn, least: number): number {
  let length = least;
  for (const cell of column.cells) {
    // A UTF-16 unit takes at most 3 bytes of UTF-8, so most strings need not be measured.
    if (typeof cell === 'string' && cell.length * 3 > length) length = Math.max(length, Buffer.byteLength(cell));
  }
  return length;
}

const WIDTH: Readonly<Record<LineType, { family: string; width: number; column: string }>> = {
  INT2: { family: 'int', width: 2, column: 'INT2' },
  INT4: { family: 'int', width: 4, column: 'INT4' },
  INT8: { family: 'int', width: 8, column: 'INT8' },
  UINT8: { family: 'int', width: 8, column: 'INT8' },
  FLOAT4: { family: 'float', width: 4, column: 'FLOAT4' },
  FLOAT8: { family: 'float', width: 8, column: 'FLOAT8' },
  NUMERIC: { family: 'float', width: 8, column: 'FLOAT8' },
  BOOL: { family: 'bool', width: 1, column: 'BOOL' },
  VARCHAR: { family: 'text', width: 1, column: 'VARCHAR' },
  NVARCHAR: { family: 'text', width: 2, column: 'NVARCHAR' },
  TIMESTAMPTZ: { family: 'time', width: 8, column: 'TIMESTAMPTZ' },
};

/** Maximum number of cells of a batch if a line adds columns, which are null in all previous lines. */
const MAX_PADDED_CELLS = 40_000;
/** Number of columns that a batch may always have. */
const FEW_COLUMNS = 128;

/** Keeps the batch in proportion to its lines: a megabyte of lines must not become gigabytes of cells. */
function mayGrow({ columns, rowCount }: RowBatchBuilder, missing: number): boolean {
  const width = columns.length + missing;
  if (rowCount === 0 || width <= FEW_COLUMNS) return true;
  return width <= MAX_COLUMNS && width * rowCount <= MAX_PADDED_CELLS;
}

/** Returns true if the batch has, or can get, a column for each tag and field of the line. */
export function bindable(shape: LineShape, rows: RowBatchBuilder, line: ScannedLine): boolean {
  let missing = 0;
  for (const name of shape.tagKeys.names) {
    const column = rows.column(name);
    if (column === undefined) missing++;
    else if (column.role === 'data') return false;
  }
  for (const [index, field] of shape.fields.entries()) {
    const column = rows.column(field.key);
    const value = line.fieldValues[index];
    if (column === undefined) missing++;
    else if (column.role !== 'data' || value === undefined || !fits(column, KIND_OF_LINE_TYPE[value.type]))
      return false;
  }
  return missing === 0 || mayGrow(rows, missing);
}
