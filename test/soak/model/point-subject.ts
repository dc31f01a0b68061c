import type { Draw } from '../../support/random.ts';
import { drawTimeMs } from './drawn-values.ts';
import { drawTags, primaryTag, type Tag, type TagChoice } from './series-tags.ts';
import type { PlannedRecord, Place, SinkPlace, SinkSubject } from './sink-subject.ts';
import { TableModel, type Cell } from './table-model.ts';

const TIMES = 6;
const STEPS = 5;
/** Times of points that must not share their key with another point start here. */
const OWN_TIMES_MS = Date.UTC(2026, 5, 1);
const VARCHAR = 'character varying(254)';
const PLANT = { power: 'double precision', count: 'bigint', note: 'character varying(20)' } as const;
type PlantColumn = keyof typeof PLANT;

interface Point {
  readonly metric: string;
  /** Time as written in the message. */
  readonly time: string;
  readonly us: bigint;
  /** Value as JSON; only numbers in lines. */
  readonly value: string;
  readonly tags: readonly Tag[];
  readonly isRefused: boolean;
}

type ValueType = 'VARCHAR' | 'FLOAT8' | 'auto';

/**
 * Points in `json_tsd` and `line_tsd`, which become tables of their own or columns of a table
 * (docs/formats.md#json_tsd-and-line_tsd).
 */
export class PointSubject implements SinkSubject {
  readonly format: 'json_tsd' | 'line_tsd';
  readonly options: Readonly<Record<string, string>>;
  readonly setUp: readonly string[];
  readonly tables: readonly TableModel[];
  readonly #name: string;
  readonly #valueType: ValueType;
  readonly #precision: 's' | 'ms' | undefined;
  readonly #tags: TagChoice;
  readonly #metrics: readonly { readonly table: TableModel; readonly kind: 'number' | 'text' | 'boolean' }[];
  readonly #plant: TableModel;
  #step = 0;
  #ownTimes = 0;

  constructor(draw: Draw, { name }: SinkPlace, format: 'json_tsd' | 'line_tsd') {
    this.format = format;
    this.#name = name;
    this.#valueType = draw.pick(['VARCHAR', 'VARCHAR', 'FLOAT8', 'auto']);
    this.#precision = draw.pick<'s' | 'ms' | 'any'>(['s', 'ms', 'any', 'any']) as 's' | 'ms';
    if ((this.#precision as string) === 'any') this.#precision = undefined;
    this.#tags = {
      more: ['rack', 'slot', 'zone'].map((tag) => ({ name: tag, since: draw.pick([0, 0, 1, STEPS - 1]) })),
      texts: format === 'json_tsd' ? ['x', 'y y', 'ø=1', '"q"', '1'] : ['x', 'y', 'ø', '1'],
      hasNumbers: format === 'json_tsd',
    };
    const kinds =
      format === 'line_tsd' || this.#valueType === 'FLOAT8'
        ? (['number'] as const)
        : (['number', 'text', 'boolean'] as const);
    this.#metrics = ['cpu', 'mem', 'io'].map((metric) => ({
      table: new TableModel(`${name}.${metric}`),
      kind: draw.pick(kinds),
    }));
    this.#plant = new TableModel(`${name}_plant`);
    this.tables = [this.#plant, ...this.#metrics.map(({ table }) => table)];
    this.options = {
      ...(this.#precision === undefined ? {} : { 'timestamp.precision': this.#precision }),
      ...(this.#valueType === 'VARCHAR' && draw.chance(0.5) ? {} : { 'value.type': this.#valueType }),
    };
    this.setUp = this.#createPlant();
  }

  beginStep(step: number): void {
    this.#step = step;
  }

  draw(draw: Draw, place: Place, isBad: boolean): PlannedRecord {
    const own = { key: null, timestamp: Date.UTC(2026, 0, 1) };
    if (!isBad && draw.chance(0.03)) return { ...own, value: null, apply: () => false };
    const points = Array.from({ length: draw.between(1, 6) }, () => this.#drawPoint(draw, place));
    if (isBad) {
      const bad = this.#badPoint(draw, place);
      if (bad === undefined || draw.chance(0.3)) {
        const value = draw.pick(this.format === 'json_tsd' ? ['[{"metric"', '7', '{"a":1}'] : ['no line', 'a b c d']);
        return { ...own, value, apply: () => true };
      }
      points.splice(draw.between(0, points.length), 0, bad);
    }
    return { ...own, value: this.#text(points), apply: (isTolerant) => this.#apply(points, isTolerant) };
  }

  #drawPoint(draw: Draw, place: Place): Point {
    if (draw.chance(0.4)) return this.#plantPoint(draw, place);
    const { table, kind } = draw.pick(this.#metrics);
    const value = { number: drawNumber, text: drawWord, boolean: drawWhether }[kind](draw);
    const tags = drawTags(draw, place, this.#step, this.#tags);
    return { metric: table.name, ...this.#time(draw, drawTimeMs(draw, TIMES)), value, tags, isRefused: false };
  }

  #plantPoint(draw: Draw, place: Place): Point {
    const columns: readonly PlantColumn[] =
      this.format === 'line_tsd' ? ['power', 'count'] : ['power', 'count', 'note'];
    const column = draw.pick(columns);
    const value =
      column === 'power' ? drawNumber(draw) : column === 'count' ? String(draw.between(-9, 9)) : drawWord(draw);
    const tags = drawTags(draw, place, this.#step, { ...this.#tags, more: [] });
    return {
      metric: `${this.#plant.name}.${column}`,
      ...this.#time(draw, drawTimeMs(draw, TIMES)),
      value,
      tags,
      isRefused: false,
    };
  }

  /** Returns an invalid point for a message with valid points. */
  #badPoint(draw: Draw, place: Place): Point | undefined {
    // If a later point of the same batch had the same key, this point might be replaced unnoticed.
    const time = this.#time(draw, OWN_TIMES_MS + 1000 * this.#ownTimes++);
    const point = { ...this.#plantPoint(draw, place), ...time, isRefused: true };
    if (this.format === 'line_tsd')
      return { ...point, metric: `${this.#plant.name}.count`, value: draw.pick(['1.5', '9223372036854775808']) };
    return draw.pick([
      { ...point, metric: `${this.#plant.name}.count`, value: '"many"' },
      { ...point, metric: `${this.#plant.name}.power`, value: '"much"' },
      { ...point, value: '{}' },
      { ...point, time: '"never"' },
    ]);
  }

  #time(draw: Draw, ms: number): Pick<Point, 'time' | 'us'> {
    const isSeconds = this.#precision === 's' || (this.#precision === undefined && draw.chance(0.3));
    const whole = isSeconds ? Math.floor(ms / 1000) : ms;
    return { time: String(whole), us: BigInt(whole) * (isSeconds ? 1_000_000n : 1000n) };
  }

  #text(points: readonly Point[]): string {
    if (this.format === 'line_tsd') {
      const lines = points.map(({ metric, time, value, tags }) =>
        [metric, time, value, ...tags.map(({ name, text }) => `${name}=${text}`)].join(' '),
      );
      return lines.map((line, index) => (index % 3 === 1 ? `put ${line}` : line)).join('\n');
    }
    const list = points.map(({ metric, time, value, tags }) => {
      const pairs = tags.map(
        ({ name, text, isNumber }) => `${JSON.stringify(name)}:${isNumber ? text : JSON.stringify(text)}`,
      );
      return `{"metric":${JSON.stringify(metric)},"timestamp":${time},"value":${value},"tags":{${pairs.join(',')}}}`;
    });
    return `[${list.join(',')}]`;
  }

  #apply(points: readonly Point[], isTolerant: boolean): boolean {
    const isRefused = points.some((point) => point.isRefused);
    if (isRefused && !isTolerant) {
      for (const { metric, tags } of points)
        this.#metrics
          .find(({ table }) => table.name === metric)
          ?.table.allow(['timestamp', 'value', 'primary_tag', ...tags.map(({ name }) => name)]);
      return true;
    }
    for (const point of points) if (!point.isRefused) this.#store(point);
    return isRefused;
  }

  #store({ metric, us, value, tags }: Point): void {
    const plantColumn = metric.slice(this.#plant.name.length + 1) as PlantColumn;
    const cells: [string, Cell][] = tags.map(({ name, text }) => [name, text]);
    if (metric.startsWith(`${this.#plant.name}.`)) {
      const cell = plantColumn === 'note' ? textOf(value) : String(Number(value));
      this.#plant.store(new Map([['at', String(us)], [plantColumn, cell], ...cells]), 'set');
      return;
    }
    const found = this.#metrics.find(({ table }) => table.name === metric);
    if (found === undefined) throw new Error(`The model has no metric ${metric}`);
    const { table } = found;
    const type = this.#typeOf(found.kind);
    if (!table.exists) {
      table.create(
        [
          ['timestamp', 'timestamp with time zone'],
          ['value', type],
          ['primary_tag', VARCHAR],
        ],
        ['timestamp', 'primary_tag'],
      );
    }
    for (const { name } of tags) table.addColumn(name, VARCHAR);
    const texts = tags.map(({ name, text, isNumber }) => (isNumber ? `${name}=${text}` : `${name}='${text}'`));
    const cell = type === 'double precision' ? String(Number(value)) : textOf(value);
    table.store(
      new Map([['timestamp', String(us)], ['value', cell], ['primary_tag', primaryTag(texts)], ...cells]),
      'replace',
    );
  }

  #typeOf(kind: 'number' | 'text' | 'boolean'): string {
    if (this.#valueType === 'VARCHAR') return VARCHAR;
    if (this.#valueType === 'FLOAT8') return 'double precision';
    return { number: 'double precision', text: VARCHAR, boolean: 'boolean' }[kind];
  }

  #createPlant(): readonly string[] {
    const columns = Object.entries(PLANT);
    this.#plant.create(
      [['at', 'timestamp with time zone'], ...columns, ['site', 'character varying(16)']],
      ['at', 'site'],
    );
    const list = columns.map(([name, type]) => `${name} ${type}`).join(', ');
    return [
      `create table "${this.#name}_plant" (at timestamptz, ${list}, site varchar(16), primary key (at, site))`,
      `comment on column "${this.#name}_plant".site is 'sluice:primary-tag'`,
    ];
  }
}

function drawNumber(draw: Draw): string {
  return draw.pick(['0', '42', '-3', '0.25', '1.5', '-17.125', '1000000']);
}

function drawWord(draw: Draw): string {
  return JSON.stringify(draw.pick(['hot', '', 'zwölf', 'a "b"', 'two\nlines']));
}

function drawWhether(draw: Draw): string {
  return draw.pick(['true', 'false']);
}

/** Returns a JSON value as text. */
function textOf(json: string): string {
  return json.startsWith('"') ? String(JSON.parse(json)) : json;
}
