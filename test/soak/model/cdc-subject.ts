import type { Draw } from '../../support/random.ts';
import { drawString, drawTimeMs, NULL, type DrawnValue } from './drawn-values.ts';
import type { PlannedRecord, Place, SinkPlace, SinkSubject } from './sink-subject.ts';
import { TableModel, type Cell, type ColumnType, type Row } from './table-model.ts';

const IDS = 12;
const TIME = 'timestamp with time zone';

/** Changes in `cdc_db` (docs/formats.md#cdc_db): rows and statements, in the order of one partition. */
export class CdcSubject implements SinkSubject {
  readonly format = 'cdc_db';
  readonly options: Readonly<Record<string, string>>;
  readonly setUp = [];
  readonly tables: readonly TableModel[];
  readonly #place: SinkPlace;
  readonly #rule: 'override' | 'merge' | 'discard';
  readonly #table: TableModel;
  /** True if the table exists after the records drawn so far. */
  #isThere = false;
  #hasKey = true;
  readonly #columns = new Map<string, ColumnType>();
  #columnCount = 0;
  #ownIds = 0;

  constructor(draw: Draw, place: SinkPlace) {
    this.#place = place;
    // If an update is repeated after later rows, the result is the same only if those rows replace the whole row.
    this.#rule = place.isRepeated ? 'override' : draw.pick(['override', 'override', 'merge', 'discard']);
    this.#table = new TableModel(place.name);
    this.tables = [this.#table];
    this.options = this.#rule === 'override' && draw.chance(0.5) ? {} : { 'dedup.rule': this.#rule };
  }

  beginStep(): void {
    // The kinds of records that are possible depend on the records drawn so far, so nothing is chosen here.
  }

  draw(draw: Draw, _place: Place, isBad: boolean): PlannedRecord {
    const [value, apply] = isBad ? this.#drawBad(draw) : this.#drawGood(draw);
    return { key: null, value, timestamp: Date.UTC(2026, 0, 1), apply };
  }

  #drawGood(draw: Draw): Drawn {
    if (!this.#isThere) return this.#create(draw);
    const roll = draw.between(0, 99);
    if (roll < 3) return [null, () => false];
    if (roll < 60) return this.#rows(draw);
    if (roll < 72) return this.#update(draw);
    if (roll < 82) return this.#delete(draw);
    if (roll < 89) return this.#addColumn(draw);
    if (roll < 93 && this.#columns.size > 4) return this.#dropColumn(draw);
    if (roll < 96) return this.#drop();
    return this.#rows(draw);
  }

  #drawBad(draw: Draw): Drawn {
    const refused = (value: string): Drawn => [value, () => true];
    const table = `"${this.#place.name}"`;
    const kinds = [
      () => refused('{"kind":"merge"}'),
      () => refused('no JSON'),
      () => refused(this.#statement('drop', `DELETE FROM ${table}`)),
      () => refused(this.#statement('update', `UPDATE "${this.#place.name}_never" SET a = 1`)),
      () => refused(this.#statement('delete', `DELETE FROM ${table} WHERE nonsense = 1`)),
      () => refused(this.#statement('update', `UPDATE ${table} SET v = 'x'; DELETE FROM ${table}`)),
      () => refused(this.#statement('alter', 'ALTER TABLE never_made ADD COLUMN a int4')),
      () =>
        refused(
          JSON.stringify({ kind: 'update', database: 'elsewhere', schema: 'public', statement: 'UPDATE x SET y = 1' }),
        ),
    ];
    if (this.#isThere && this.#rule === 'override') {
      const spoiled = ['"x"', '9223372036854775808'];
      kinds.push(() => this.#rows(draw, draw.pick(spoiled)));
    }
    return draw.pick(kinds)();
  }

  #create(draw: Draw): Drawn {
    this.#isThere = true;
    this.#hasKey = this.#place.isRepeated || draw.chance(0.8);
    this.#columns.clear();
    const columns: [string, ColumnType][] = [
      ['ts', TIME],
      ['id', 'bigint'],
      ['n', 'bigint'],
      ['v', 'character varying(64)'],
    ];
    for (const [name, type] of columns) this.#columns.set(name, type);
    const hasKey = this.#hasKey;
    const list = columns.map(([name, type]) => `${name} ${type ?? ''}${hasKey && name === 'id' ? ' PRIMARY KEY' : ''}`);
    const sql = `CREATE TABLE "${this.#place.name}" (${list.join(', ')})`;
    return [
      this.#statement('create', sql),
      () => {
        this.#table.create(columns, hasKey ? ['id'] : []);
        return false;
      },
    ];
  }

  /** Draws rows. If `spoiled` is given, it is the JSON of an invalid value for the column `n` of one row. */
  #rows(draw: Draw, spoiled?: string): Drawn {
    const names = [...this.#columns.keys()].filter((name) => ['ts', 'id', 'n'].includes(name) || draw.chance(0.8));
    const rows = Array.from({ length: draw.between(1, 5) }, () => names.map((name) => this.#cell(draw, name)));
    const at = spoiled === undefined ? -1 : draw.between(0, rows.length - 1);
    // If a later row of the same batch has the same key, an invalid row may be replaced unnoticed. It therefore gets a
    // key of its own.
    if (at >= 0) rows[at] = rows[at]?.with(names.indexOf('id'), numberValue(1000 + this.#ownIds++)) ?? [];
    const values = rows.map((row, index) =>
      row.map(({ json }, column) => (index === at && names[column] === 'n' ? (spoiled ?? json) : json)),
    );
    const head = JSON.stringify({
      kind: draw.pick(['insert', 'insert', 'snapshot']),
      database: this.#place.database,
      schema: 'public',
      table: this.#place.name,
      columnnames: names,
      columntypes: names.map((name) => shortType(this.#columns.get(name) ?? '')),
    });
    const value = `${head.slice(0, -1)},"columnvalues":[${values.map((row) => `[${row.join(',')}]`).join(',')}]}`;
    const rule = this.#hasKey
      ? ({ override: 'replace', merge: 'fill', discard: 'keep' } as const)[this.#rule]
      : 'append';
    return [
      value,
      (isTolerant) => {
        if (at >= 0 && !isTolerant) return true;
        for (const [index, row] of rows.entries()) {
          const cells = names.map((name, column): [string, Cell] => [name, row[column]?.cell ?? null]);
          if (index !== at) this.#table.store(new Map(cells), rule);
        }
        return at >= 0;
      },
    ];
  }

  #cell(draw: Draw, name: string): DrawnValue {
    if (name === 'id') return numberValue(draw.between(1, IDS));
    if (name === 'ts') {
      const ms = drawTimeMs(draw, IDS);
      return { json: String(ms), cell: String(BigInt(ms) * 1000n) };
    }
    if (draw.chance(0.15)) return NULL;
    return this.#columns.get(name) === 'bigint' ? numberValue(draw.between(-99, 99)) : drawString(draw, 10);
  }

  #update(draw: Draw): Drawn {
    const id = String(draw.between(1, IDS));
    const isRelative = !this.#place.isRepeated && draw.chance(0.4);
    const number = draw.between(-9, 9);
    const sql = `UPDATE "${this.#place.name}" SET n = ${isRelative ? `n + ${String(number)}` : String(number)} WHERE id <= ${id}`;
    const change = (row: Row): Row => {
      const before = row.get('n') ?? null;
      const after = isRelative ? (before === null ? null : String(Number(before) + number)) : String(number);
      return new Map([...row, ['n', after]]);
    };
    return [this.#statement('update', sql), () => this.#change((row) => Number(row.get('id')) <= Number(id), change)];
  }

  #delete(draw: Draw): Drawn {
    const id = String(draw.between(1, IDS));
    const sql = `DELETE FROM "${this.#place.name}" WHERE id = ${id}`;
    return [
      this.#statement('delete', sql),
      () =>
        this.#change(
          (row) => row.get('id') === id,
          () => undefined,
        ),
    ];
  }

  #change(condition: (row: Row) => boolean, change: (row: Row) => Row | undefined): boolean {
    this.#table.change(condition, change);
    return false;
  }

  #addColumn(draw: Draw): Drawn {
    const name = `extra${String(this.#columnCount++)}`;
    const type = draw.pick(['bigint', 'text']);
    this.#columns.set(name, type);
    return [
      this.#statement('alter', `ALTER TABLE "${this.#place.name}" ADD COLUMN ${name} ${type}`),
      () => {
        this.#table.addColumn(name, type);
        return false;
      },
    ];
  }

  #dropColumn(draw: Draw): Drawn {
    const name = draw.pick([...this.#columns.keys()].slice(4));
    this.#columns.delete(name);
    return [
      this.#statement('alter', `ALTER TABLE "${this.#place.name}" DROP COLUMN ${name}`),
      () => {
        this.#table.dropColumn(name);
        return false;
      },
    ];
  }

  #drop(): Drawn {
    this.#isThere = false;
    return [
      this.#statement('drop', `DROP TABLE "${this.#place.name}"`),
      () => {
        this.#table.drop();
        return false;
      },
    ];
  }

  #statement(kind: string, statement: string): string {
    return JSON.stringify({
      kind,
      database: this.#place.database,
      schema: 'public',
      table: this.#place.name,
      statement,
    });
  }
}

type Drawn = [value: string | null, apply: (isTolerant: boolean) => boolean];

function numberValue(number: number): DrawnValue {
  return { json: String(number), cell: String(number) };
}

function shortType(type: string): string {
  return { [TIME]: 'timestamptz', bigint: 'int8', text: 'text' }[type] ?? 'varchar';
}
