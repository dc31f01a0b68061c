import type { Fault, Origin } from '../../../../src/data/fault.ts';
import type { MessageBlock, SinkRecordBlock, StructRecord } from '../../../../src/data/message-block.ts';
import type { SinkRecord } from '../../../../src/data/record.ts';
import { type TableName, tableText } from '../../../../src/data/row-batch.ts';
import type { Schema } from '../../../../src/data/schema.ts';
import { Struct, type ConnectValue } from '../../../../src/data/value.ts';
import { toError } from '../../../../src/errors.ts';
import { quoteTable } from '../../sql/quote.ts';
import type { Decoded, DecodedPart, DecodedRows } from '../format.ts';
import { eventPlaces, rowAfter, rowStateOf } from './struct-envelope.ts';
import { keyValues, RowLayouts, type LayoutPolicy, type RowLayout } from './struct-layout.ts';
import { MapForms, type ConnectMap } from './struct-maps.ts';
import { MergedShapes, StructRows } from './struct-rows.ts';
import { TableNames } from './struct-table-names.ts';
import { schemaOf } from './struct-types.ts';

export interface StructPolicy extends LayoutPolicy {
  /** `table.name.format`, see struct-table-names.ts. */
  readonly tableNameFormat: string;
  /** `delete.enabled`; requires keyMode record_key, or record_value with keyFields. If false, deletions are skipped. */
  readonly deletes: boolean;
  /** `truncate.enabled`; if false, truncations are skipped. */
  readonly truncates: boolean;
}

/**
 * Converts records with structured data to rows: structs with schemas, maps without, and Debezium change events. Values
 * are converted directly into the columns of the batch; the meaning of a schema is determined once per Schema object.
 */
export class StructDecoder {
  readonly #policy: StructPolicy;
  readonly #tables: TableNames;
  readonly #layouts: RowLayouts;
  readonly #mapForms = new MapForms();
  readonly #keyForms = new MapForms();
  readonly #shapes = new MergedShapes();
  /** The batches in order of creation; the last batch of each table is open. */
  #batches: StructRows[] = [];
  #open = new Map<string, StructRows>();
  #last: StructRows | undefined;
  #faults: Fault[] = [];
  #rowCount = 0;
  /** The changes up to and including the last truncation. */
  #parts: DecodedPart[] = [];

  constructor(policy: StructPolicy) {
    this.#policy = policy;
    this.#tables = new TableNames(policy.tableNameFormat);
    this.#layouts = new RowLayouts(policy);
  }

  /** Number of rows waiting to be taken. A deletion and a truncation count as one row each. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** Adds a record, or a fault if the record is invalid. */
  add(record: SinkRecord, origin: Origin): void {
    const problem = this.#add(record, origin);
    if (problem !== undefined) this.#faults.push({ scope: 'record', message: problem, origin });
  }

  /** Like `Decoder.addBlock`, for structs that are rows, and for change events that contain a row. */
  addBlock(block: SinkRecordBlock, from: number, to: number): number {
    const { messages } = block;
    const { keyMode } = this.#policy;
    return block.readStructs(from, to, (schema, values, index, record) => {
      const value = this.#tables.byTopicAlone ? null : new Struct(schema, [...values]);
      const table = this.#tables.of({ topic: record.topic, value });
      const key = keyMode === 'record_key' ? this.#keyOfStruct(record) : undefined;
      if (typeof table === 'string' || typeof key === 'string') return false;
      const event = eventPlaces(schema);
      const row = event && rowAfter(event, values);
      if (event !== undefined && row === undefined) return false;
      const layout = this.#layouts.of(row?.schema ?? schema, key?.schema);
      if (typeof layout === 'string') return false;
      const keys = keyMode === 'kafka' ? kafkaValues(messages, index) : key === undefined ? NO_VALUES : valuesOf(key);
      const problem = this.#rowsOf(table, layout).addOf(keys, row?.values ?? values, messages, index);
      if (problem !== undefined) return false;
      this.#rowCount++;
      return true;
    });
  }

  /** Returns the record's key; a string if the record must be passed to `add`. */
  #keyOfStruct(record: StructRecord): { schema: Schema; value: ConnectValue } | string {
    const key = record.key();
    return (key && this.#keyOf({ key: key.value, keySchema: key.schema })) ?? 'not known';
  }

  /** Returns the rows, truncations and faults since the last call. Batches of a table must be written in order. */
  take(): Decoded {
    const rows = this.#takeRows();
    const faults = this.#faults;
    const before = this.#parts;
    this.#faults = [];
    this.#parts = [];
    this.#rowCount = 0;
    if (before.length === 0) return { rows, faults };
    const parts = [...before, ...rows.map((each) => ({ kind: 'rows', rows: each }) as const)];
    return { rows: parts.flatMap((part) => (part.kind === 'rows' ? [part.rows] : [])), faults, parts };
  }

  #takeRows(): DecodedRows[] {
    const rows = this.#batches.filter(({ rowCount }) => rowCount > 0).map((batch) => batch.build(this.#shapes));
    this.#batches = [];
    this.#open = new Map();
    this.#last = undefined;
    return rows;
  }

  /** Returns the problem if the record is invalid. */
  #add(record: SinkRecord, origin: Origin): string | undefined {
    const state = rowStateOf(record.valueSchema, record.value);
    switch (state.is) {
      case 'none':
        return undefined;
      case 'truncated':
        return this.#policy.truncates ? this.#addTruncation(record, origin) : undefined;
      case 'deleted':
        if (!this.#policy.deletes) return undefined;
        return this.#policy.keyMode === 'record_value'
          ? this.#addDeletion(state.before, record, origin)
          : this.#addRow(undefined, record, origin);
      case 'present': {
        const struct = this.#toStruct(state.schema, state.value);
        return typeof struct === 'string' ? struct : this.#addRow(struct, record, origin);
      }
    }
  }

  /**
   * Adds the deletion of the row that is identified by the event's old state (`before`). A tombstone has no old state,
   * and adds nothing.
   */
  #addDeletion(before: ConnectValue, record: SinkRecord, origin: Origin): string | undefined {
    if (before === null) return undefined;
    const struct = this.#toStruct(null, before);
    if (typeof struct === 'string') return struct;
    const layout = this.#layouts.ofDeleted(struct.schema);
    if (typeof layout === 'string') return layout;
    const table = this.#tables.of(record);
    if (typeof table === 'string') return table;
    const problem = this.#rowsOf(table, layout).add(NO_VALUES, struct.values, origin);
    if (problem === undefined) this.#rowCount++;
    return problem;
  }

  /** Adds a truncation. The rows added so far are written before it. */
  #addTruncation(record: SinkRecord, origin: Origin): string | undefined {
    const table = this.#tables.of(record);
    if (typeof table === 'string') return table;
    for (const rows of this.#takeRows()) this.#parts.push({ kind: 'rows', rows });
    try {
      const sql = `TRUNCATE TABLE ${quoteTable(table)}`;
      const statement = { sql, kind: 'truncate', schema: undefined, table: table.name, origin } as const;
      this.#parts.push({ kind: 'statement', statement });
    } catch (error) {
      return toError(error).message;
    }
    this.#rowCount++;
    return undefined;
  }

  /** Adds a row. `struct` is the row's value; `undefined` if the row is deleted. */
  #addRow(struct: Struct | undefined, record: SinkRecord, origin: Origin): string | undefined {
    const key = this.#policy.keyMode === 'record_key' ? this.#keyOf(record) : undefined;
    if (typeof key === 'string') return key;
    const layout = this.#layouts.of(struct?.schema, key?.schema);
    if (typeof layout === 'string') return layout;
    const table = this.#tables.of(record);
    // A tombstone after a deletion event adds nothing, and has no source block from which to derive the table name.
    if (typeof table === 'string') return record.value === null ? undefined : table;
    const rows = this.#rowsOf(table, layout);
    const problem = rows.add(
      layout.fromKey.length === 0 ? NO_VALUES : keyValues(this.#policy.keyMode, key?.value ?? null, record),
      struct?.values ?? NO_VALUES,
      origin,
    );
    if (problem === undefined) this.#rowCount++;
    return problem;
  }

  #toStruct(schema: Schema | null, value: ConnectValue): Struct | string {
    if (value instanceof Struct) return value;
    if (value instanceof Map) return this.#mapForms.toStruct(value as ConnectMap);
    const problem = schema === null ? 'has no schema and is not a map' : `is a single value of type ${schema.type}`;
    return `the record's value ${problem}: protocol.type=struct requires structs with a schema, or maps`;
  }

  #keyOf({
    key,
    keySchema,
  }: Pick<SinkRecord, 'key' | 'keySchema'>): { schema: Schema; value: ConnectValue } | string | undefined {
    if (key === null) return undefined;
    if (key instanceof Struct) return { schema: key.schema, value: key };
    if (!(key instanceof Map)) return { schema: keySchema ?? schemaOf(key), value: key };
    const struct = this.#keyForms.toStruct(key as ConnectMap);
    return typeof struct === 'string' ? struct : { schema: struct.schema, value: struct };
  }

  /** Returns the open batch of the table, prepared for a row of this layout. */
  #rowsOf(table: TableName, layout: RowLayout): StructRows {
    if (this.#last?.table === table && this.#last.prepare(layout)) return this.#last;
    const name = tableText(table);
    let rows = this.#open.get(name);
    if (rows?.prepare(layout) !== true) {
      rows = new StructRows(table, layout.key);
      rows.prepare(layout);
      this.#open.set(name, rows);
      this.#batches.push(rows);
    }
    this.#last = rows;
    return rows;
  }
}

function kafkaValues({ topic, partition, offsets }: MessageBlock, index: number): readonly ConnectValue[] {
  return [topic, partition, BigInt(offsets[index] ?? 0)];
}

function valuesOf({ value }: { value: ConnectValue }): readonly ConnectValue[] {
  return value instanceof Struct ? value.values : [value];
}

const NO_VALUES: readonly ConnectValue[] = [];
