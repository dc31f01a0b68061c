import type { Draw } from '../../support/random.ts';

/** A value as SQL and as PostgreSQL prints it. Null represents NULL. */
export interface SourceValue {
  readonly sql: string;
  readonly text: string | null;
}

const SQL_NULL: SourceValue = { sql: 'null', text: null };

type Kind = 'number' | 'bool' | 'text';

export interface SourceColumn {
  readonly name: string;
  readonly type: string;
  /** Type and length in json_db, if the documents specify them. */
  readonly described: { readonly type: string; readonly length: number } | undefined;
  /** Suffix of numbers in line_lp; undefined if the documents do not specify how such values are written. */
  readonly suffix: string | undefined;
  readonly kind: Kind;
  readonly value: (draw: Draw) => SourceValue;
}

/** A row, with its time in microseconds. */
export interface SourceRow {
  readonly us: bigint;
  readonly cells: ReadonlyMap<string, SourceValue>;
}

type Type = Omit<SourceColumn, 'name'>;

const FLOATS = ['1.5', '-2.25', '0.1', '3', '1e+20', '-7.125'];
const TEXTS = ['', 'a', 'pump 7', 'Tromsø', '漢字 😀', 'say "so"', "it's", 'back\\slash', 'a,b=c d', 'null'];

const number = (text: string): SourceValue => ({ sql: `'${text}'`, text });
const string = (text: string): SourceValue => ({ sql: `'${text.replaceAll("'", "''")}'`, text });

function integer(least: number, most: number, extremes: readonly string[]) {
  return (draw: Draw): SourceValue =>
    number(draw.chance(0.2) ? draw.pick(extremes) : String(draw.between(Math.max(least, -500), Math.min(most, 500))));
}

const float = (draw: Draw): SourceValue => number(draw.pick(FLOATS));

const TYPES: readonly Type[] = [
  {
    type: 'smallint',
    described: { type: 'INT2', length: 16 },
    suffix: 'i16',
    kind: 'number',
    value: integer(-32_768, 32_767, ['-32768', '32767']),
  },
  {
    type: 'integer',
    described: { type: 'INT4', length: 32 },
    suffix: 'i32',
    kind: 'number',
    value: integer(-500, 500, ['-2147483648', '2147483647']),
  },
  {
    type: 'bigint',
    described: { type: 'INT8', length: 64 },
    suffix: 'i64',
    kind: 'number',
    value: integer(-500, 500, ['-9223372036854775808', '9223372036854775807', '9007199254740993']),
  },
  { type: 'real', described: { type: 'FLOAT4', length: 32 }, suffix: 'f32', kind: 'number', value: float },
  { type: 'double precision', described: { type: 'FLOAT8', length: 64 }, suffix: 'f64', kind: 'number', value: float },
  {
    type: 'boolean',
    described: undefined,
    suffix: '',
    kind: 'bool',
    value: (draw) => (draw.chance(0.5) ? { sql: 'true', text: 'true' } : { sql: 'false', text: 'false' }),
  },
  {
    type: 'varchar(32)',
    described: { type: 'VARCHAR', length: 32 },
    suffix: '',
    kind: 'text',
    value: (draw) => string(draw.pick(TEXTS)),
  },
  { type: 'text', described: undefined, suffix: '', kind: 'text', value: (draw) => string(draw.pick(TEXTS)) },
  {
    type: 'numeric(20,4)',
    described: undefined,
    suffix: undefined,
    kind: 'number',
    value: (draw) => number(draw.pick(['12.5000', '-1234567890123456.7891', '0.0000', '99.0001'])),
  },
  {
    type: 'uuid',
    described: undefined,
    suffix: undefined,
    kind: 'text',
    value: (draw) => string(`00000000-0000-4000-8000-0000000000${String(draw.between(10, 99))}`),
  },
  {
    type: 'date',
    described: undefined,
    suffix: undefined,
    kind: 'text',
    value: (draw) => string(`2026-0${String(draw.between(1, 9))}-1${String(draw.between(0, 9))}`),
  },
];

export interface SourceTableOptions {
  readonly format: string;
  readonly hasKey: boolean;
  /** True if the table has a column `id` with increasing numbers. */
  readonly hasId: boolean;
}

/** A table that a source reads, with the rows that the model has inserted. */
export class SourceTable {
  readonly name: string;
  readonly hasKey: boolean;
  readonly hasId: boolean;
  readonly hasTags: boolean;
  readonly tagTexts: readonly string[];
  readonly timeType: string;
  readonly #types: readonly Type[];
  #columns: SourceColumn[];
  #columnCount = 0;
  #lastId = 0;

  constructor(draw: Draw, name: string, { format, hasKey, hasId }: SourceTableOptions) {
    this.name = name;
    this.hasKey = hasKey;
    this.hasId = hasId;
    this.hasTags = hasKey;
    this.timeType = draw.pick(['timestamptz', 'timestamptz(3)', 'timestamp']);
    this.#types = TYPES.filter(({ suffix }) => format !== 'line_lp' || suffix !== undefined);
    this.tagTexts = format === 'line_tsd' ? ['oslo', 'ø', 'x1'] : ['oslo', 'o s,l=o', 'ø', '1', '"q"'];
    this.#columns = [];
    for (let left = draw.between(1, 6); left > 0; left--) this.#columns.push(this.#newColumn(draw));
  }

  /** The columns except the time, the number and the tags. */
  get columns(): readonly SourceColumn[] {
    return this.#columns;
  }

  createStatements(): readonly string[] {
    const columns = [
      `ts ${this.timeType}${this.hasKey ? ' not null' : ''}`,
      ...(this.hasId ? ['id bigint not null'] : []),
      ...this.#columns.map(({ name, type }) => `${name} ${type}`),
      ...(this.hasTags ? ['site varchar(20) not null', 'rack varchar(20)'] : []),
    ];
    const key = this.hasId ? ['primary key (id)'] : this.hasKey ? ['primary key (ts, site)'] : [];
    // Comments mark the tags. They are in the transaction of the table, because otherwise the source might read the
    // catalogue before they exist.
    return [
      'begin',
      `create table ${this.name} (${[...columns, ...key].join(', ')})`,
      ...(this.hasTags
        ? [
            `comment on column ${this.name}.site is 'sluice:primary-tag'`,
            `comment on column ${this.name}.rack is 'sluice:tag'`,
          ]
        : []),
      'commit',
    ];
  }

  addColumn(draw: Draw): string {
    const column = this.#newColumn(draw);
    this.#columns.push(column);
    return `alter table ${this.name} add column ${column.name} ${column.type}`;
  }

  dropColumn(draw: Draw): string {
    const { name } = draw.pick(this.#columns);
    this.#columns = this.#columns.filter((column) => column.name !== name);
    return `alter table ${this.name} drop column ${name}`;
  }

  /** Draws a row with this time. `site` is part of the key. */
  drawRow(draw: Draw, us: bigint, site: string): SourceRow {
    const cells = new Map<string, SourceValue>();
    if (this.hasId) cells.set('id', number(String(++this.#lastId)));
    for (const { name, value } of this.#columns) cells.set(name, draw.chance(0.15) ? SQL_NULL : value(draw));
    if (this.hasTags) {
      cells.set('site', string(site));
      cells.set('rack', draw.chance(0.3) ? SQL_NULL : string(draw.pick(this.tagTexts)));
    }
    return { us, cells };
  }

  /** Returns a statement that inserts the rows. */
  insertStatement(rows: readonly SourceRow[]): string {
    const [first] = rows;
    const names = ['ts', ...(first?.cells.keys() ?? [])];
    const tuples = rows.map(
      ({ us, cells }) => `(${[timeSql(us), ...[...cells.values()].map(({ sql }) => sql)].join(', ')})`,
    );
    return `insert into ${this.name} (${names.join(', ')}) values ${tuples.join(', ')}`;
  }

  /** Changes one value of a row. Returns the statement and the changed row. */
  updateRow(draw: Draw, { us, cells }: SourceRow): { readonly sql: string; readonly row: SourceRow } {
    const { name, value } = draw.pick(this.#columns);
    const changed = value(draw);
    const site = cells.get('site')?.sql ?? 'null';
    const sql = `update ${this.name} set ${name} = ${changed.sql} where ts = ${timeSql(us)} and site = ${site}`;
    return { sql, row: { us, cells: new Map([...cells, [name, changed]]) } };
  }

  #newColumn(draw: Draw): SourceColumn {
    return { name: `c${String(this.#columnCount++)}`, ...draw.pick(this.#types) };
  }
}

function timeSql(us: bigint): string {
  const ms = us / 1000n;
  const text = new Date(Number(ms)).toISOString().slice(0, -1) + String(us % 1000n).padStart(3, '0');
  return `'${text}Z'`;
}
