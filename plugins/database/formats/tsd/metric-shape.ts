import type { CellKind, ColumnRole } from '../../../../src/data/row-batch.ts';
import type { OpenColumn } from '../../../../src/data/row-batch-builder.ts';
import type { ColumnShape, TableShape } from '../../../../src/data/table-shape.ts';
import type { PointBatch } from './point-batch.ts';
import { DEFAULT_LENGTH, type TagSet } from '../tag-sets.ts';

/** Type of the value column in new tables; `auto` selects FLOAT8, BOOL or VARCHAR by the first value. */
export type ValueType = 'VARCHAR' | 'FLOAT8' | 'auto';

interface ShapeColumn {
  readonly name: string;
  readonly role: ColumnRole;
}

/** PostgreSQL's limit for the columns of a table. */
const MAX_COLUMNS = 1_600;

/**
 * The shape of the table that all points of a metric seen so far need. The shape only grows. Until it grows, it is the
 * same object, so its table is checked only once.
 */
export class MetricShape {
  readonly #valueType: ValueType;
  #firstKind: CellKind | undefined;
  /** Lengths in bytes of the VARCHAR columns. */
  readonly #lengths = new Map<string, number>();
  #columns: readonly ShapeColumn[] = [];
  #shape: TableShape | undefined;

  constructor(valueType: ValueType) {
    this.#valueType = valueType;
  }

  /** Returns the shape, extended as required by the batch. */
  with(batch: PointBatch): TableShape {
    this.#firstKind ??= batch.firstKind;
    this.#addColumns(batch.rows.columns);
    this.#lengthen(batch.value);
    for (const tags of batch.longTags) this.#lengthenTags(tags);
    this.#shape ??= { exact: false, columns: this.#columns.map((column) => this.#columnShape(column)) };
    return this.#shape;
  }

  #addColumns(columns: readonly OpenColumn[]): void {
    for (const { name, role, cells } of columns) {
      if (this.#lengths.has(name) || this.#columns.length >= MAX_COLUMNS) continue;
      // Columns without values are left out: they belong to a message that was dropped.
      if (!cells.some((cell) => cell !== null)) continue;
      this.#lengths.set(name, DEFAULT_LENGTH);
      this.#columns = ordered([...this.#columns, { name, role }]);
      this.#shape = undefined;
    }
  }

  #lengthen({ name, kind, cells }: OpenColumn): void {
    if (kind !== 'text' && kind !== 'numeric') return;
    for (const cell of cells) this.#recordText(name, String(cell));
  }

  #lengthenTags({ keys, values, primaryTag }: TagSet): void {
    for (const [index, name] of keys.names.entries()) this.#recordText(name, values[index] ?? '');
    for (const { name, role } of this.#columns) {
      if (role === 'primary-tag') this.#recordText(name, primaryTag ?? '');
    }
  }

  #recordText(column: string, text: string): void {
    const known = this.#lengths.get(column) ?? 0;
    // A UTF-16 unit takes at most 3 bytes of UTF-8, so most texts need not be measured.
    if (text.length * 3 <= known) return;
    const length = Buffer.byteLength(text);
    if (length <= known) return;
    this.#lengths.set(column, length);
    this.#shape = undefined;
  }

  #columnShape({ name, role }: ShapeColumn): ColumnShape {
    if (role === 'nanos') return { name, role, type: 'INT2', length: undefined, nullable: false };
    if (role === 'time') return { name, role, type: 'TIMESTAMPTZ', length: undefined, nullable: false };
    const type = role === 'data' ? this.#typeOfValue() : 'VARCHAR';
    const length = type === 'VARCHAR' ? this.#lengths.get(name) : undefined;
    return { name, role, type, length, nullable: role !== 'primary-tag' };
  }

  #typeOfValue(): string {
    if (this.#valueType !== 'auto') return this.#valueType;
    if (this.#firstKind === 'text') return 'VARCHAR';
    return this.#firstKind === 'bool' ? 'BOOL' : 'FLOAT8';
  }
}

const ORDER = { time: 0, nanos: 1, data: 2, 'primary-tag': 3, tag: 4 } as const;

function ordered(columns: readonly ShapeColumn[]): readonly ShapeColumn[] {
  return columns.toSorted((left, right) => ORDER[left.role] - ORDER[right.role]);
}
