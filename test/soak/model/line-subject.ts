import type { Draw } from '../../support/random.ts';
import { drawFloat, drawTimeMs } from './drawn-values.ts';
import { drawTags, primaryTag, type Tag, type TagChoice } from './series-tags.ts';
import type { PlannedRecord, Place, SinkPlace, SinkSubject } from './sink-subject.ts';
import { TableModel, type Cell, type Row, type StoreRule } from './table-model.ts';

const TIMES = 5;
const STEPS = 5;
/**
 * Times of invalid lines start here. If a later line of the same batch had the same key, an invalid line might be
 * replaced unnoticed.
 */
const OWN_TIMES_MS = Date.UTC(2026, 5, 1);

interface Written {
  readonly text: string;
  readonly cell: Cell;
}

interface Field {
  readonly name: string;
  readonly column: string;
  readonly value: (draw: Draw) => Written;
  /** Values that are invalid for the column. */
  readonly bad: readonly string[];
  readonly since: number;
}

interface Line {
  readonly table: TableModel;
  readonly tags: readonly Tag[];
  readonly fields: readonly { readonly field: Field; readonly written: Written }[];
  /** If undefined, the time is the timestamp of the record. */
  readonly time: { readonly text: string; readonly us: bigint } | undefined;
  readonly isRefused: boolean;
}

const TEXTS = ['', 'plain', 'a b=c,d', 'say "so"', 'ø 漢 😀', 'back\\slash', "it's", 'C:\\new'];

const KINDS: readonly Omit<Field, 'name' | 'since'>[] = [
  { column: 'double precision', value: float(''), bad: ['"x"'] },
  { column: 'double precision', value: float('f64'), bad: ['"x"'] },
  {
    column: 'real',
    value: (draw) => {
      const { json, cell } = drawFloat(draw, 'real');
      return { text: `${json}f32`, cell };
    },
    bad: ['"x"'],
  },
  { column: 'bigint', value: integer('i', ['9223372036854775807', '-9223372036854775808']), bad: ['"x"', '1.5'] },
  { column: 'bigint', value: integer('i64', ['9007199254740993']), bad: ['"x"'] },
  { column: 'integer', value: integer('i32', ['2147483647']), bad: ['"x"', '2147483648i'] },
  { column: 'smallint', value: integer('i16', ['32767', '-32768']), bad: ['"x"', '40000i'] },
  {
    column: 'boolean',
    value: (draw) =>
      draw.chance(0.5)
        ? { text: draw.pick(['true', 'True', 'TRUE']), cell: 'true' }
        : { text: draw.pick(['false', 'False', 'FALSE']), cell: 'false' },
    bad: ['"x"'],
  },
  {
    column: 'character varying(254)',
    value: (draw) => {
      const cell = draw.pick(TEXTS);
      return { text: `${draw.pick(['', '', 'L'])}"${escaped(draw, cell)}"`, cell };
    },
    bad: [`"${'x'.repeat(255)}"`],
  },
];

function float(suffix: string) {
  return (draw: Draw): Written => {
    const { json, cell } = drawFloat(draw, 'double precision');
    return { text: `${json}${suffix}`, cell };
  };
}

function integer(suffix: string, extremes: readonly string[]) {
  return (draw: Draw): Written => {
    const cell = draw.chance(0.2) ? draw.pick(extremes) : String(draw.between(-50, 50));
    return { text: `${cell}${suffix}`, cell };
  };
}

/** Formats a string for a line. Blanks, equals signs and commas may be escaped. */
function escaped(draw: Draw, text: string): string {
  const required = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  return draw.chance(0.5) ? required : required.replaceAll(/[ =,]/g, '\\$&');
}

/** Lines of `line_lp` (docs/formats.md#line_lp) for tables that the sink creates, and for an existing one. */
export class LineSubject implements SinkSubject {
  readonly format = 'line_lp';
  readonly options: Readonly<Record<string, string>>;
  readonly setUp: readonly string[];
  readonly tables: readonly TableModel[];
  readonly #precision: 'ms' | 'us' | 'ns';
  readonly #rule: 'override' | 'merge' | 'discard';
  readonly #evolve: 'none' | 'add' | 'widen';
  readonly #isCreated: boolean;
  readonly #fields: readonly Field[];
  readonly #tags: TagChoice;
  #step = 0;
  #ownTimes = 0;
  #columnsAtStep: ReadonlyMap<string, ReadonlySet<string>> = new Map();

  constructor(draw: Draw, { name }: SinkPlace) {
    this.#precision = draw.pick(['ns', 'ns', 'us', 'ms']);
    this.#rule = draw.pick(['merge', 'merge', 'override', 'discard']);
    this.#isCreated = draw.chance(0.7);
    this.#evolve = this.#isCreated ? draw.pick(['add', 'widen']) : 'none';
    const since = (): number => (this.#isCreated ? draw.pick([0, 0, 1, 2, STEPS - 1]) : 0);
    this.#fields = Array.from({ length: draw.between(2, 7) }, (_none, index) => ({
      ...draw.pick(KINDS),
      name: draw.chance(0.15) ? `f ${String(index)}` : `f${String(index)}`,
      since: index === 0 ? 0 : since(),
    }));
    this.#tags = {
      more: this.#isCreated ? ['rack', 'a zone'].map((tag) => ({ name: tag, since: since() })) : [],
      texts: ['x', 'y y', 'ø=1', 'a,b', '"q"'],
      hasNumbers: false,
    };
    const names = this.#isCreated ? [`${name}_a`, `${name}_b`] : [name];
    this.tables = names.map((each) => new TableModel(each));
    this.options = {
      ...(this.#precision === 'ns' && draw.chance(0.5) ? {} : { 'timestamp.precision': this.#precision }),
      ...(this.#rule === 'merge' && draw.chance(0.5) ? {} : { 'dedup.rule': this.#rule }),
      ...(this.#isCreated ? { 'auto.create': 'true' } : {}),
      ...(this.#evolve === 'none' ? {} : { 'auto.evolve': this.#evolve }),
    };
    this.setUp = this.#isCreated ? [] : this.#createTable(name);
  }

  beginStep(step: number): void {
    this.#step = step;
    this.#columnsAtStep = new Map(this.tables.map((table) => [table.name, new Set(table.columns.keys())]));
  }

  draw(draw: Draw, place: Place, isBad: boolean): PlannedRecord {
    const timestamp = drawTimeMs(draw, TIMES);
    const own = { key: null, timestamp };
    if (!isBad && draw.chance(0.03)) return { ...own, value: null, apply: () => false };
    const lines = Array.from({ length: draw.between(1, 5) }, () => this.#drawLine(draw, place));
    if (isBad) {
      const bad = this.#badLine(draw, place);
      if (bad === undefined || draw.chance(0.3)) {
        const value = draw.pick(['no line at all', 'm,site= f=1 5', 'm f=1 notime', 'm f= 1', ',site=x f=1']);
        return { ...own, value, apply: () => true };
      }
      lines.splice(draw.between(0, lines.length), 0, bad);
    }
    const texts = lines.map(lineText);
    if (draw.chance(0.1)) texts.unshift('# a comment', '');
    return { ...own, value: texts.join('\n'), apply: (isTolerant) => this.#apply(lines, timestamp, isTolerant) };
  }

  #drawLine(draw: Draw, place: Place): Line {
    const table = draw.pick(this.tables);
    const usable = this.#fields.filter(({ since }) => since <= this.#step);
    const chosen = usable.filter(() => draw.chance(0.5));
    const fields = (chosen.length > 0 ? chosen : usable.slice(0, 1)).map((field) => ({
      field,
      written: field.value(draw),
    }));
    const tags = drawTags(draw, place, this.#step, this.#tags);
    return {
      table,
      tags,
      fields,
      time: draw.chance(0.1) ? undefined : this.#time(draw, drawTimeMs(draw, TIMES)),
      isRefused: false,
    };
  }

  /** Returns an invalid line with columns and tags of its table. */
  #badLine(draw: Draw, place: Place): Line | undefined {
    if (this.#rule !== 'override') return undefined;
    const table = draw.pick(this.tables);
    const columns = this.#columnsAtStep.get(table.name) ?? new Set();
    const known = this.#fields.filter(({ name, bad }) => columns.has(name) && bad.length > 0);
    if (known.length === 0) return undefined;
    const field = draw.pick(known);
    const text = draw.pick(this.#evolve === 'widen' && field.column.startsWith('character') ? [''] : field.bad);
    if (text === '') return undefined;
    const tags = drawTags(draw, place, this.#step, { ...this.#tags, more: [] });
    return {
      table,
      tags,
      fields: [{ field, written: { text, cell: null } }],
      time: this.#time(draw, OWN_TIMES_MS + 1000 * this.#ownTimes++),
      isRefused: true,
    };
  }

  #time(draw: Draw, ms: number): { readonly text: string; readonly us: bigint } {
    const us = BigInt(ms) * 1000n + BigInt(this.#precision === 'ms' ? 0 : draw.pick([0, 0, 456]));
    const written = { ms: us / 1000n, us, ns: us * 1000n + BigInt(draw.pick([0, 0, 789])) }[this.#precision];
    return { text: String(written), us };
  }

  #apply(lines: readonly Line[], timestamp: number, isTolerant: boolean): boolean {
    const isRefused = lines.some((line) => line.isRefused);
    if (isRefused && !isTolerant) {
      for (const { table, tags, fields } of this.#isCreated ? lines : [])
        table.allow([
          'k_timestamp',
          'primary_tag',
          ...tags.map(({ name }) => name),
          ...fields.map(({ field }) => field.name),
        ]);
      return true;
    }
    for (const line of lines) if (!line.isRefused) this.#store(line, timestamp);
    return isRefused;
  }

  #store({ table, tags, fields, time }: Line, timestamp: number): void {
    if (!table.exists) {
      table.create(
        [
          ['k_timestamp', 'timestamp with time zone'],
          ['primary_tag', 'character varying(64)'],
        ],
        ['k_timestamp', 'primary_tag'],
      );
    }
    if (this.#isCreated) {
      for (const { field } of fields) table.addColumn(field.name, field.column);
      for (const { name } of tags) table.addColumn(name, 'character varying(254)');
    }
    const cells: [string, Cell][] = [
      ['k_timestamp', String(time?.us ?? BigInt(timestamp) * 1000n)],
      ...(this.#isCreated
        ? [['primary_tag', primaryTag(tags.map(({ name, text }) => `${name}=${text}`))] as [string, Cell]]
        : []),
      ...tags.map(({ name, text }): [string, Cell] => [name, text]),
      ...fields.map(({ field, written }): [string, Cell] => [field.name, written.cell]),
    ];
    const row: Row = new Map(cells);
    const rule: StoreRule = ({ override: 'replace', merge: 'fill', discard: 'keep' } as const)[this.#rule];
    table.store(row, rule);
  }

  #createTable(name: string): readonly string[] {
    const columns = this.#fields.map((field): [string, string] => [field.name, field.column]);
    const [table] = this.tables;
    table?.create(
      [['k_timestamp', 'timestamp with time zone'], ...columns, ['site', 'character varying(16)']],
      ['k_timestamp', 'site'],
    );
    const list = columns.map(([column, type]) => `"${column}" ${type}`).join(', ');
    return [
      `create table "${name}" (k_timestamp timestamptz, ${list}, site varchar(16), primary key (k_timestamp, site))`,
    ];
  }
}

function lineText({ table, tags, fields, time }: Line): string {
  const key = (text: string): string => text.replaceAll(/[ ,=]/g, '\\$&');
  const head = [key(table.name), ...tags.map(({ name, text }) => `${key(name)}=${key(text)}`)].join(',');
  const list = fields.map(({ field, written }) => `${key(field.name)}=${written.text}`).join(',');
  return time === undefined ? `${head} ${list}` : `${head} ${list} ${time.text}`;
}
