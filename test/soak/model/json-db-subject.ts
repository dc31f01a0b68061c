import type { Draw } from '../../support/random.ts';
import { drawBoolean, drawFloat, drawInteger, drawString, drawTimeMs, NULL, type DrawnValue } from './drawn-values.ts';
import type { PlannedRecord, Place, SinkPlace, SinkSubject } from './sink-subject.ts';
import { TableModel, type Cell, type ColumnType, type Row, type StoreRule } from './table-model.ts';

const STEPS = 5;
const TIMES = 6;
const TEXT_LENGTH = 12;
const PARTITION_MS = 3_600_000;
/** Times of rows that must not share their key with another row start here. */
const OWN_TIMES_MS = Date.UTC(2026, 5, 1);

interface Kind {
  /** Type as written in the message. */
  readonly type: string;
  readonly length: number;
  readonly column: ColumnType;
  readonly value: (draw: Draw) => DrawnValue;
  /** JSON of values that are invalid for the column. */
  readonly bad: readonly string[];
}

interface Field extends Kind {
  readonly name: string;
  readonly since: number;
}

const KINDS: readonly Kind[] = [
  { type: 'INT2', length: 16, column: 'smallint', value: integer('smallint'), bad: ['40000', '"x"'] },
  { type: 'INT4', length: 32, column: 'integer', value: integer('integer'), bad: ['3000000000', '"12x"'] },
  { type: 'INT8', length: 64, column: 'bigint', value: integer('bigint'), bad: ['9223372036854775808', '"x"'] },
  { type: 'FLOAT4', length: 32, column: 'real', value: (draw) => drawFloat(draw, 'real'), bad: ['"x"'] },
  {
    type: 'FLOAT8',
    length: 64,
    column: 'double precision',
    value: (draw) => drawFloat(draw, 'double precision'),
    bad: ['"x"'],
  },
  { type: 'BOOL', length: 1, column: 'boolean', value: drawBoolean, bad: ['"maybe"'] },
  {
    type: 'VARCHAR',
    length: TEXT_LENGTH,
    column: `character varying(${String(TEXT_LENGTH)})`,
    value: (draw) => drawString(draw, TEXT_LENGTH),
    bad: [JSON.stringify('x'.repeat(TEXT_LENGTH + 1)), '"a\\u0000b"'],
  },
];

function integer(type: 'smallint' | 'integer' | 'bigint') {
  return (draw: Draw): DrawnValue => {
    const drawn = drawInteger(draw, type);
    return draw.chance(0.1) ? { ...drawn, json: JSON.stringify(drawn.json) } : drawn;
  };
}

/** A column that exists in no table. */
const UNLISTED: Field = {
  name: 'unlisted',
  type: 'INT4',
  length: 32,
  column: 'integer',
  value: integer('integer'),
  bad: [],
  since: 0,
};

type Tags = 'none' | 'primary' | 'plain';

/** Messages of `json_db` for one table (docs/formats.md#json_db). */
export class JsonDbSubject implements SinkSubject {
  readonly format = 'json_db';
  readonly options: Readonly<Record<string, string>>;
  readonly setUp = [];
  readonly tables: readonly TableModel[];
  readonly #place: SinkPlace;
  readonly #tags: Tags;
  readonly #tagNames: readonly string[];
  readonly #evolve: 'none' | 'add' | 'widen';
  readonly #rule: 'override' | 'merge' | 'discard';
  readonly #unknown: 'fault' | 'ignore';
  readonly #precision: 'ms' | 'us' | 'ns';
  readonly #timeType: 'TIMESTAMPTZ' | 'TIMESTAMP';
  readonly #fields: readonly Field[];
  readonly #table: TableModel;
  #step = 0;
  #ownTimes = 0;
  #columnsAtStep: ReadonlySet<string> = new Set();

  constructor(draw: Draw, place: SinkPlace) {
    this.#place = place;
    const { engine } = place;
    this.#tags = engine === 'relational' ? 'none' : draw.pick(['primary', 'primary', 'plain', 'none']);
    this.#tagNames = this.#tags === 'none' ? [] : draw.chance(0.5) ? ['site'] : ['site', 'room'];
    this.#evolve = draw.pick(['none', 'add', 'widen']);
    this.#rule = draw.pick(['override', 'override', 'merge', 'discard']);
    this.#unknown = draw.pick(['fault', 'fault', 'ignore']);
    this.#precision = engine === 'relational' ? 'ms' : draw.pick(['ms', 'ms', 'us', 'ns']);
    this.#timeType = draw.pick(['TIMESTAMPTZ', 'TIMESTAMPTZ', 'TIMESTAMP']);
    this.#fields = Array.from({ length: draw.between(1, 7) }, (_none, index) => ({
      ...draw.pick(KINDS),
      name: `f${String(index)}`,
      since: this.#evolve === 'none' || index === 0 ? 0 : draw.pick([0, 0, 1, 2, STEPS - 1]),
    }));
    this.#table = new TableModel(place.name);
    this.tables = [this.#table];
    this.options = {
      ...(this.#precision === 'ms' && draw.chance(0.5) ? {} : { 'timestamp.precision': this.#precision }),
      ...(this.#evolve === 'none' && draw.chance(0.5) ? {} : { 'auto.evolve': this.#evolve }),
      ...(this.#rule === 'override' && draw.chance(0.5) ? {} : { 'dedup.rule': this.#rule }),
      ...(this.#unknown === 'fault' ? {} : { 'unknown.columns': this.#unknown }),
    };
  }

  beginStep(step: number): void {
    this.#step = step;
    this.#columnsAtStep = new Set(this.#table.columns.keys());
  }

  draw(draw: Draw, place: Place, isBad: boolean): PlannedRecord {
    const timestamp = Date.UTC(2026, 0, 1);
    const own = { key: null, timestamp };
    if (isBad && draw.chance(0.3)) {
      const value = draw.pick(['{"table":', '[]', '7', '{"columns":[],"data":[]}', 'text']);
      return { ...own, value, apply: () => true };
    }
    if (draw.chance(0.03)) return { ...own, value: null, apply: () => false };
    const known = this.#columnsAtStep;
    const fields = this.#fields.filter(({ name, since }) => {
      if (since > this.#step) return false;
      if (isBad && known.size > 0 && !known.has(name)) return false;
      return this.#evolve === 'none' || draw.chance(0.8);
    });
    if (isBad && this.#evolve === 'none' && known.size > 0 && draw.chance(0.2)) {
      const { value } = this.#message([...fields, UNLISTED], [this.#drawRow(draw, place, fields)]);
      return { ...own, value, apply: () => true };
    }
    const rows = Array.from({ length: draw.between(1, 5) }, () => this.#drawRow(draw, place, fields));
    // If all rows of a message are refused, its table may or may not be created.
    const bad = isBad && known.size > 0 ? this.#spoil(draw, draw.pick(rows), fields) : false;
    if (isBad && !bad) return { ...own, value: '{', apply: () => true };
    const { value } = this.#message(fields, rows);
    return { ...own, value, apply: (isTolerant) => this.#apply(fields, rows, isTolerant) };
  }

  #drawRow(draw: Draw, { partition }: Place, fields: readonly Field[]): DrawnRow {
    const cells = new Map<string, DrawnValue>();
    // Without tags, the time is the key, and rows with the same key must be in the same partition.
    const partMs = this.#tags === 'none' ? partition * PARTITION_MS : 0;
    cells.set('ts', this.#time(draw, drawTimeMs(draw, TIMES) + partMs));
    for (const [index, name] of this.#tagNames.entries()) {
      const isNull = this.#tags === 'plain' && index > 0 && draw.chance(0.3);
      const text = index === 0 ? `p${String(partition)}-${draw.pick(['oslo', 'ø'])}` : draw.pick(['x', 'y y', '"']);
      cells.set(name, isNull ? NULL : { json: JSON.stringify(text), cell: text });
    }
    const absent = new Set<string>();
    for (const { name, value } of fields) {
      if (draw.chance(0.1)) absent.add(name);
      else cells.set(name, draw.chance(0.12) ? NULL : value(draw));
    }
    if (this.#unknown === 'ignore' && draw.chance(0.2)) cells.set('surplus', { json: '"s"', cell: 's' });
    return { cells, isRefused: false };
  }

  #time(draw: Draw, ms: number): DrawnValue {
    if (this.#place.engine === 'relational') {
      const text = new Date(ms).toISOString().replace('T', ' ').replace('Z', '');
      return { json: JSON.stringify(text), cell: String(BigInt(ms) * 1000n) };
    }
    const us = BigInt(ms) * 1000n + BigInt(this.#precision === 'ms' ? 0 : draw.pick([0, 456]));
    const written = { ms: us / 1000n, us, ns: us * 1000n + BigInt(draw.pick([0, 0, 789])) }[this.#precision];
    return { json: String(written), cell: String(us) };
  }

  /** Makes the row invalid. Returns false if that is impossible. */
  #spoil(draw: Draw, row: DrawnRow, fields: readonly Field[]): boolean {
    const kinds: (() => void)[] = [];
    const isNever = this.#rule !== 'override';
    for (const { name, bad, type } of fields) {
      const usable = type === 'VARCHAR' && this.#evolve === 'widen' ? bad.slice(1) : bad;
      if (!isNever) for (const json of usable) kinds.push(() => row.cells.set(name, { json, cell: null }));
    }
    if (this.#tags !== 'none') kinds.push(() => row.cells.set('ts', NULL));
    if (this.#tags === 'primary') kinds.push(() => row.cells.set('site', NULL));
    if (this.#unknown === 'fault') kinds.push(() => row.cells.set('surplus', { json: '1', cell: null }));
    if (kinds.length === 0) return false;
    // If a later row of the same batch had the same key, this row might be replaced unnoticed.
    row.cells.set('ts', this.#time(draw, OWN_TIMES_MS + 1000 * this.#ownTimes++));
    draw.pick(kinds)();
    row.isRefused = true;
    return true;
  }

  #message(fields: readonly Field[], rows: readonly DrawnRow[]): { readonly value: string } {
    const columns = [
      { name: 'ts', type: this.#timeType, length: 64 },
      ...fields.map(({ name, type, length }) => ({ name, type, length })),
    ];
    const tags = this.#tagNames.map((name) => ({
      name,
      type: 'VARCHAR',
      length: 24,
      ...(this.#tags === 'primary' ? { primary: true, nullable: false } : {}),
    }));
    const data = rows.map(
      ({ cells }) => `{${[...cells].map(([name, { json }]) => `${JSON.stringify(name)}:${json}`).join(',')}}`,
    );
    const head = JSON.stringify({ table: this.#table.name, columns, ...(tags.length > 0 ? { tags } : {}) });
    return { value: `${head.slice(0, -1)},"data":[${data.join(',')}]}` };
  }

  #apply(fields: readonly Field[], rows: readonly DrawnRow[], isTolerant: boolean): boolean {
    const isRefused = rows.some((row) => row.isRefused);
    if (isRefused && !isTolerant) return true;
    if (!this.#table.exists) this.#table.create([], this.#keyNames);
    // The first column is a timestamptz, regardless of its time type in the message.
    this.#table.addColumn('ts', 'timestamp with time zone');
    for (const { name, column } of fields) this.#table.addColumn(name, column);
    for (const name of this.#tagNames) this.#table.addColumn(name, 'character varying(24)');
    if (this.#hasNameTag) this.#table.addColumn(this.#table.name, undefined);
    for (const row of rows) if (!row.isRefused) this.#table.store(this.#cellsOf(row), this.#storeRule);
    return isRefused;
  }

  #cellsOf({ cells }: DrawnRow): Row {
    const own = [...cells]
      .filter(([name]) => name !== 'surplus')
      .map(([name, { cell }]): [string, Cell] => [name, cell]);
    return new Map([...own, ...(this.#hasNameTag ? [[this.#table.name, this.#table.name] as const] : [])]);
  }

  get #hasNameTag(): boolean {
    return this.#tags === 'none' && this.#place.engine === 'time-series';
  }

  get #keyNames(): readonly string[] {
    if (this.#hasNameTag) return ['ts', this.#table.name];
    return ['ts', ...this.#tagNames];
  }

  get #storeRule(): StoreRule {
    return ({ override: 'replace', merge: 'fill', discard: 'keep' } as const)[this.#rule];
  }
}

interface DrawnRow {
  readonly cells: Map<string, DrawnValue>;
  isRefused: boolean;
}
