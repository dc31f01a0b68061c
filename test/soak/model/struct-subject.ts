import type { Draw } from '../../support/random.ts';
import { NULL, type DrawnValue } from './drawn-values.ts';
import type { PlannedRecord, Place, SinkPlace, SinkSubject } from './sink-subject.ts';
import { drawFields, fieldSchema, type StructField } from './struct-fields.ts';
import { TableModel, type Cell, type ColumnType, type StoreRule } from './table-model.ts';

const JSON_CONVERTER = 'org.apache.kafka.connect.json.JsonConverter';
const KAFKA_KEY = ['__connect_topic', '__connect_partition', '__connect_offset'] as const;
/** Number of keys per partition. There are few, so that several records have the same key. */
const KEYS = 6;
const STEPS = 5;
const SITES = ['oslo', 'Tromsø'];

type KeyMode = 'none' | 'kafka' | 'record_key' | 'record_value';
type InsertMode = 'insert' | 'upsert' | 'update';

interface Cells {
  readonly fields: readonly StructField[];
  readonly values: ReadonlyMap<string, DrawnValue>;
}

/** The fields of a key. */
type Ids = ReadonlyMap<string, DrawnValue>;

/** Choices that are made once per seed. */
interface Choice {
  readonly hasSchemas: boolean;
  readonly keyMode: KeyMode;
  readonly insertMode: InsertMode;
  readonly rule: 'override' | 'merge' | 'discard';
  readonly isCreated: boolean;
  readonly grows: boolean;
  readonly deletes: boolean;
  /** True if the key of the record is a single value. */
  readonly isSimpleKey: boolean;
  readonly hasSite: boolean;
  readonly excluded: readonly string[];
}

function chooseModes(draw: Draw, { isRepeated }: SinkPlace): Pick<Choice, 'keyMode' | 'insertMode' | 'rule'> {
  const keyMode = draw.pick<KeyMode>([
    'record_key',
    'record_key',
    'record_value',
    'kafka',
    ...(isRepeated ? [] : ['none' as const]),
  ]);
  const modes: InsertMode[] =
    keyMode === 'none'
      ? ['insert']
      : keyMode === 'kafka'
        ? ['upsert']
        : ['upsert', 'upsert', 'upsert', 'update', 'insert'];
  const insertMode = draw.pick(isRepeated ? modes.filter((mode) => mode !== 'insert') : modes);
  const rule = insertMode === 'upsert' ? draw.pick(['override', 'override', 'merge', 'discard'] as const) : 'override';
  return { keyMode, insertMode, rule };
}

function choose(draw: Draw, place: SinkPlace): Choice {
  const modes = chooseModes(draw, place);
  const { keyMode, insertMode } = modes;
  const isSimpleKey = keyMode === 'record_key' && draw.chance(0.4);
  return {
    ...modes,
    hasSchemas: draw.chance(0.7),
    isCreated: insertMode !== 'update' && draw.chance(0.7),
    grows: draw.chance(0.6),
    deletes: keyMode === 'record_key' && draw.chance(0.6),
    isSimpleKey,
    hasSite: !isSimpleKey && (keyMode === 'record_key' || keyMode === 'record_value') && draw.chance(0.4),
    excluded: draw.chance(0.15) ? ['f1'] : [],
  };
}

/** Records of `protocol.type=struct` (docs/sink.md#records-with-schemas-protocoltypestruct). */
export class StructSubject implements SinkSubject {
  readonly format = 'struct';
  readonly options: Readonly<Record<string, string>>;
  readonly setUp: readonly string[];
  readonly tables: readonly TableModel[];
  readonly #choice: Choice;
  readonly #fields: readonly StructField[];
  readonly #table: TableModel;
  readonly #place: SinkPlace;
  #step = 0;
  #ownKeys = 0;
  /** Keys of the rows drawn so far. */
  readonly #live = new Set<Ids>();
  readonly #deleted: Ids[] = [];
  #existsAtStep = false;
  #columnsAtStep: ReadonlySet<string> = new Set();

  constructor(draw: Draw, place: SinkPlace) {
    this.#place = place;
    this.#choice = choose(draw, place);
    this.#fields = drawFields(draw, { ...this.#choice, steps: STEPS });
    this.#table = new TableModel(place.name);
    this.tables = [this.#table];
    this.options = this.#optionsOf(draw);
    this.setUp = this.#choice.isCreated ? [] : this.#createTable();
  }

  beginStep(step: number): void {
    this.#step = step;
    this.#existsAtStep = this.#table.exists;
    this.#columnsAtStep = new Set(this.#table.columns.keys());
  }

  draw(draw: Draw, place: Place, isBad: boolean): PlannedRecord {
    const timestamp = Date.UTC(2026, 0, 1);
    if (isBad) return { timestamp, ...this.#drawBad(draw, place) };
    const isTombstone = draw.chance(this.#choice.deletes ? 0.25 : 0.05);
    const ids = isTombstone ? this.#drawStored(draw, place) : this.#drawKey(draw, place);
    if (isTombstone && this.#choice.deletes && this.#live.delete(ids)) this.#deleted.push(ids);
    if (isTombstone) return { timestamp, key: this.#keyText(ids), value: null, apply: () => this.#tombstone(ids) };
    const cells = this.#drawCells(draw);
    const value = this.#valueText(ids, cells);
    this.#live.add(ids);
    return { timestamp, key: this.#keyText(ids), value, apply: () => this.#row(ids, cells, place) };
  }

  /** Returns a record of a kind that is certain to be refused at this time. */
  #drawBad(draw: Draw, place: Place): Omit<PlannedRecord, 'timestamp'> {
    const { hasSchemas, keyMode, grows } = this.#choice;
    // If a later record of the same batch had the same key, this record might be replaced unnoticed.
    const ids = this.#ownKey(place);
    const key = this.#keyText(ids);
    const refused = (value: string, ownKey: string | null = key) => ({ key: ownKey, value, apply: () => true });
    const cells = this.#drawCells(draw, this.#columnsAtStep);
    const kinds: (() => Omit<PlannedRecord, 'timestamp'>)[] = [
      () => refused('{"no": JSON'),
      () => refused(hasSchemas ? '{"schema":{"type":"string","optional":false},"payload":"no struct"}' : '"no struct"'),
    ];
    if (keyMode === 'record_key') kinds.push(() => refused(this.#valueText(ids, cells), null));
    if (this.#choice.insertMode === 'insert' && keyMode !== 'none' && !this.#choice.deletes && this.#live.size > 0) {
      const stored = this.#drawStored(draw, place);
      if (this.#live.has(stored)) {
        const row = (): boolean => this.#row(stored, cells, place);
        kinds.push(() => ({ key: this.#keyText(stored), value: this.#valueText(stored, cells), apply: row }));
      }
    }
    const texts = this.#known('text');
    const integers = this.#known('bigint', 'integer', 'smallint');
    const wrong = (field: StructField, schema: object, json: string) => {
      const fields = [
        ...cells.fields.filter(({ name }) => name !== field.name),
        { ...field, schema, defaultValue: undefined },
      ];
      const values = new Map([...cells.values, [field.name, { json, cell: null }]]);
      return refused(this.#valueText(ids, { fields, values }));
    };
    if (this.#willBeStored) {
      for (const field of texts) kinds.push(() => wrong(field, { type: 'string' }, '"nul \\u0000"'));
      for (const field of integers) kinds.push(() => wrong(field, { type: 'string' }, '"no number"'));
      if (this.#existsAtStep && !grows && !this.#choice.isCreated) {
        const own = { column: 'integer', value: () => NULL, isOptional: true, since: 0, schema: {} };
        kinds.push(() => wrong({ name: 'unknown_field', ...own }, hasSchemas ? { type: 'int32' } : {}, '1'));
      }
    }
    return draw.pick(kinds)();
  }

  /** True if the row of any record reaches the table, so that values that do not fit are noticed. */
  get #willBeStored(): boolean {
    const { insertMode, rule } = this.#choice;
    return insertMode === 'upsert' && rule === 'override';
  }

  #known(...types: string[]): readonly StructField[] {
    return this.#fields.filter(({ name, column }) => this.#columnsAtStep.has(name) && types.includes(column ?? ''));
  }

  /** Draws one of a few keys; with `insert.mode=insert`, a key that is not stored. */
  #drawKey(draw: Draw, place: Place): Ids {
    if (this.#choice.insertMode === 'insert' && this.#choice.keyMode !== 'none') {
      return (draw.chance(0.4) ? this.#takeDeleted(place) : undefined) ?? this.#ownKey(place);
    }
    return this.#ids(place.partition * 1000 + draw.between(1, KEYS), draw.pick(SITES));
  }

  /**
   * Returns the key of a deleted row of the same partition, because records of different partitions are written in any
   * order.
   */
  #takeDeleted(place: Place): Ids | undefined {
    const index = this.#deleted.findLastIndex((ids) => partitionOf(ids) === place.partition);
    return index < 0 ? undefined : this.#deleted.splice(index, 1)[0];
  }

  #ownKey({ partition }: Place): Ids {
    return this.#ids(partition * 1000 + 100 + this.#ownKeys++, 'own');
  }

  /** Draws the key of a row of the partition that may be stored. */
  #drawStored(draw: Draw, place: Place): Ids {
    const own = [...this.#live].filter((ids) => partitionOf(ids) === place.partition);
    return own.length > 0 ? draw.pick(own) : this.#drawKey(draw, place);
  }

  #ids(id: number, site: string): Ids {
    const values = new Map<string, DrawnValue>([['id', { json: String(id), cell: String(id) }]]);
    if (this.#choice.hasSite) values.set('site', { json: JSON.stringify(site), cell: site });
    return values;
  }

  /**
   * Draws the fields of a record. With `only`, fields that are not in this set are omitted, because only refused
   * records would have them.
   */
  #drawCells(draw: Draw, only?: ReadonlySet<string>): Cells {
    const { hasSchemas } = this.#choice;
    const fields = this.#fields.filter((field) => {
      if (field.since > this.#step) return false;
      if (only !== undefined && !only.has(field.name) && this.#step > 0) return false;
      return !field.isOptional || field.defaultValue !== undefined || draw.chance(0.8);
    });
    const values = new Map<string, DrawnValue>();
    for (const field of fields) {
      const mayBeNull = field.isOptional && (hasSchemas || this.#columnsAtStep.has(field.name));
      values.set(field.name, mayBeNull && draw.chance(0.2) ? NULL : field.value(draw));
    }
    return { fields, values };
  }

  #row(ids: Ids, { fields, values }: Cells, place: Place): boolean {
    const { excluded, insertMode } = this.#choice;
    const kept = fields.filter(({ name }) => !excluded.includes(name));
    const keyCells = this.#keyCells(ids, place);
    const columns: [string, ColumnType][] = [
      ...this.#keyColumns(),
      ...kept.map(({ name, column }): [string, ColumnType] => [name, column]),
    ];
    const cells: [string, Cell][] = kept.map((field) => {
      const value = values.get(field.name) ?? NULL;
      return [field.name, value === NULL ? (field.defaultValue?.cell ?? null) : value.cell];
    });
    const row = new Map<string, Cell>([...keyCells, ...cells]);
    const isDuplicate =
      this.#table.exists &&
      insertMode === 'insert' &&
      this.#table.key.length > 0 &&
      this.#table.find(row) !== undefined;
    if (isDuplicate) {
      this.#table.allow(columns.map(([name]) => name));
      return true;
    }
    if (!this.#table.exists) this.#table.create([], this.#keyNames());
    for (const [name, type] of columns) this.#table.addColumn(name, type);
    this.#table.store(row, this.#rule());
    return false;
  }

  #rule(): StoreRule {
    const { insertMode, keyMode, rule } = this.#choice;
    if (keyMode === 'none') return 'append';
    if (insertMode !== 'upsert') return insertMode;
    return { override: 'set', merge: 'fill', discard: 'keep' }[rule] as StoreRule;
  }

  #tombstone(ids: Ids): boolean {
    if (this.#choice.deletes && this.#table.exists)
      this.#table.delete(new Map([...ids].map(([name, { cell }]) => [name, cell])));
    return false;
  }

  #keyCells(ids: Ids, { topic, partition, offset }: Place): (readonly [string, Cell])[] {
    const place = [topic, String(partition), String(offset)];
    const own = [...ids].map(([name, { cell }]) => [name, cell] as const);
    return this.#choice.keyMode === 'kafka'
      ? [...KAFKA_KEY.map((name, index) => [name, place[index] ?? ''] as const), ...own]
      : own;
  }

  #keyColumns(): [string, ColumnType][] {
    const { keyMode, hasSite } = this.#choice;
    const own: [string, ColumnType][] = [
      ['id', 'bigint'],
      ...(hasSite ? [['site', 'text'] as [string, ColumnType]] : []),
    ];
    if (keyMode !== 'kafka') return own;
    return [['__connect_topic', 'text'], ['__connect_partition', 'integer'], ['__connect_offset', 'bigint'], ...own];
  }

  #keyNames(): readonly string[] {
    const { keyMode, hasSite } = this.#choice;
    if (keyMode === 'none') return [];
    if (keyMode === 'kafka') return KAFKA_KEY;
    return hasSite ? ['id', 'site'] : ['id'];
  }

  #keyText(ids: Ids): string | null {
    const { keyMode, isSimpleKey, hasSchemas } = this.#choice;
    if (keyMode !== 'record_key') return null;
    if (isSimpleKey) {
      const payload = ids.get('id')?.json ?? 'null';
      return hasSchemas ? `{"schema":{"type":"int64","optional":false},"payload":${payload}}` : payload;
    }
    return this.#structText(this.#idFields(), ids);
  }

  #valueText(ids: Ids, { fields, values }: Cells): string {
    const { keyMode } = this.#choice;
    if (keyMode === 'record_key') return this.#structText(fields, values);
    return this.#structText([...this.#idFields(), ...fields], new Map([...ids, ...values]));
  }

  #idFields(): readonly StructField[] {
    const field = { isOptional: false, since: 0, value: () => NULL };
    return [
      { ...field, name: 'id', schema: { type: 'int64' }, column: 'bigint' },
      ...(this.#choice.hasSite ? [{ ...field, name: 'site', schema: { type: 'string' }, column: 'text' }] : []),
    ];
  }

  #structText(fields: readonly StructField[], values: ReadonlyMap<string, DrawnValue>): string {
    const payload = `{${fields.map(({ name }) => `"${name}":${values.get(name)?.json ?? 'null'}`).join(',')}}`;
    if (!this.#choice.hasSchemas) return payload;
    return `{"schema":{"type":"struct","optional":false,"fields":[${fields.map(fieldSchema).join(',')}]},"payload":${payload}}`;
  }

  #optionsOf(draw: Draw): Record<string, string> {
    const { keyMode, insertMode, hasSchemas, isCreated, grows, deletes, isSimpleKey, rule, excluded } = this.#choice;
    const keyFields = isSimpleKey ? 'id' : keyMode === 'record_value' ? this.#keyNames().join(',') : undefined;
    return {
      'key.converter': JSON_CONVERTER,
      'value.converter': JSON_CONVERTER,
      'key.converter.schemas.enable': String(hasSchemas),
      'value.converter.schemas.enable': String(hasSchemas),
      'insert.mode': insertMode,
      'pk.mode': keyMode,
      ...(keyFields === undefined ? {} : { 'pk.fields': keyFields }),
      'auto.create': String(isCreated),
      'auto.evolve': isCreated || grows ? draw.pick(['add', 'true', 'widen']) : 'none',
      ...(deletes ? { 'delete.enabled': 'true' } : {}),
      ...(rule === 'override' && draw.chance(0.5) ? {} : { 'dedup.rule': rule }),
      ...(excluded.length > 0 ? { 'fields.exclude': excluded.join(',') } : {}),
    };
  }

  /** Returns the SQL for a table that exists before the sink, with the columns of the first step. */
  #createTable(): readonly string[] {
    const { grows, excluded, insertMode } = this.#choice;
    const columns: [string, ColumnType][] = [
      ...this.#keyColumns(),
      ...this.#fields
        .filter(({ name, since }) => (since === 0 || !grows) && !excluded.includes(name))
        .map(({ name, column }): [string, ColumnType] => [name, column]),
    ];
    const key = this.#keyNames();
    this.#table.create(columns, key);
    const list = columns.map(([name, type]) => `${name} ${type ?? ''}`);
    if (key.length > 0) list.push(`primary key (${key.join(', ')})`);
    const statements = [`create table "${this.#table.name}" (${list.join(', ')})`];
    if (insertMode !== 'update') return statements;
    for (let partition = 0; partition < this.#place.partitions; partition++) {
      for (let id = partition * 1000 + 1; id <= partition * 1000 + KEYS; id += 2) {
        const site = key.includes('site') ? { names: ', site', values: ", 'oslo'" } : { names: '', values: '' };
        statements.push(`insert into "${this.#table.name}" (id${site.names}) values (${String(id)}${site.values})`);
        this.#table.store(
          new Map([['id', String(id)], ...(key.includes('site') ? [['site', 'oslo'] as const] : [])]),
          'insert',
        );
      }
    }
    return statements;
  }
}

/** Returns the partition of a key. For example, the keys of partition 2 start at 2000. */
function partitionOf(ids: Ids): number {
  return Math.floor(Number(ids.get('id')?.cell) / 1000);
}
