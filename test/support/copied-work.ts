import { Draw } from './random.ts';
import type { SqlClient } from './sql-client.ts';

/** Share of the transactions that begin with a statement that changes a table. */
const STATEMENT_SHARE = 0.15;
const ROLLBACK_SHARE = 0.08;
const MAX_ROWS = 400;

/** Random changes of several tables, with DDL statements in between. They are reproducible by their seed. */
export class CopiedWork {
  /** Number of inserted, updated and deleted rows of committed transactions, including truncated rows. */
  changes = 0;
  /** Number of committed statements that created, changed or dropped a table. */
  statements = 0;
  readonly #sql: SqlClient;
  readonly #draw: Draw;
  #next = 0;
  /** The numbers in the names of columns that were added to `orders`. */
  #columns: number[] = [];
  /** The numbers in the names of tables that were created. */
  #tables: number[] = [];

  constructor(sql: SqlClient, seed: number) {
    this.#sql = sql;
    this.#draw = new Draw(seed);
  }

  async createTables(): Promise<void> {
    await this.#sql.run(
      `create table orders (id int primary key, item text not null, price numeric(12, 4), at timestamptz not null default now(),
        note jsonb, done bool, weight float8)`,
      'create table lines (order_id int, line int, amount bigint, primary key (order_id, line))',
      'create table docs (id int primary key, body text, version int not null)',
      'alter table docs alter body set storage external',
      'create table events (id bigint generated always as identity primary key, kind text, at timestamp)',
      'create table unkeyed (a int, b text)',
      'alter table unkeyed replica identity full',
      'create table scratch (id int primary key, v int)',
      `insert into orders select n, 'past ' || n, n / 3.0, now(), null, true, n / 7.0 from generate_series(-500, -1) n`,
    );
  }

  /** Runs transactions until this number of rows has been changed. */
  async run(changes: number): Promise<void> {
    while (this.changes < changes) await this.#transaction();
  }

  async #transaction(): Promise<void> {
    const columns = [...this.#columns];
    const tables = [...this.#tables];
    let rows = 0;
    let statements = 0;
    await this.#sql.run('begin');
    if (this.#draw.chance(STATEMENT_SHARE)) {
      for (const statement of this.#statement()) {
        await this.#sql.run(statement);
        if (/^(create|alter|drop|truncate)/.test(statement)) statements += 1;
      }
    }
    for (let left = this.#draw.between(1, 3); left > 0; left--) rows += await this.#changed(this.#change());
    if (this.#draw.chance(ROLLBACK_SHARE)) {
      await this.#sql.run('rollback');
      this.#columns = columns;
      this.#tables = tables;
      return;
    }
    await this.#sql.run('commit');
    this.changes += rows;
    this.statements += statements;
  }

  /** Runs a statement that changes rows, and returns their number. */
  async #changed(statement: string): Promise<number> {
    return this.#sql.number(`with changed as (${statement} returning 1) select count(*) from changed`);
  }

  #change(): string {
    const draw = this.#draw;
    const rows = draw.between(1, draw.chance(0.3) ? MAX_ROWS : 10);
    const first = (this.#next += MAX_ROWS);
    const series = `generate_series(${String(first)}, ${String(first + rows - 1)}) n`;
    const recent = `between ${String(draw.between(0, first))} and ${String(first)}`;
    const some = `(select id from orders where id ${recent} order by id limit ${String(rows)})`;
    switch (draw.between(1, 13)) {
      case 1:
      case 2:
      case 3:
        return `insert into orders (id, item, price, note, done, weight)
          select n, 'item ' || n, n / 9.0, jsonb_build_object('n', n, 'x', null), n % 2 = 0, 1 / (n + 0.5) from ${series}`;
      case 4:
      case 5:
        return `insert into lines select n, l, n * 1000000000::bigint + l from ${series}, generate_series(1, 3) l`;
      case 6:
        return `insert into events (kind, at) select E'it''s\\n\\\\' || n, timestamp '2026-01-01' + n * interval '1 us' from ${series}`;
      case 7:
        return `update orders set item = item || '+', done = not done, note = null where id in ${some}`;
      case 8:
        return `delete from orders where id in ${some}`;
      case 9:
        return `update lines set order_id = -order_id where order_id = (select order_id from lines order by random() limit 1)`;
      case 10:
        return `update lines set amount = amount + 1 where (order_id, line) in
          (select order_id, line from lines where order_id ${recent} and line < 3 order by 1, 2 limit ${String(rows)})`;
      case 11:
        return `insert into docs select n, repeat(md5(n::text), 200), 1 from generate_series(${String(first)}, ${String(first + 3)}) n`;
      case 12:
        return draw.chance(0.5)
          ? `update docs set version = version + 1 where id in (select id from docs where id ${recent} order by id limit 20)`
          : `update docs set id = -id where id = (select max(id) from docs)`;
      default:
        return draw.chance(0.5)
          ? `insert into unkeyed select n % 5, 'b' || n % 3 from generate_series(1, 20) n`
          : `update unkeyed set b = b || '.' where ctid in (select ctid from unkeyed order by b, a limit 5)`;
    }
  }

  /** Returns DDL statements that must run together. */
  #statement(): readonly string[] {
    const draw = this.#draw;
    const number = (this.#next += MAX_ROWS);
    const n = String(number);
    switch (draw.between(1, 8)) {
      case 1:
      case 2: {
        if (this.#columns.length >= 5) return this.#dropColumn();
        this.#columns.push(number);
        const type = draw.pick([
          'int not null default 7',
          `text default 'd'`,
          'timestamptz default now()',
          'numeric(8, 2)',
        ]);
        return [`alter table orders add column c${n} ${type}`];
      }
      case 3:
        return this.#dropColumn();
      case 4: {
        const column = this.#columns.pop();
        if (column === undefined) return [];
        this.#columns.push(number);
        return [`alter table orders rename column c${String(column)} to c${n}`];
      }
      case 5:
        this.#tables.push(number);
        return [
          `create table made_${n} (id serial primary key, v text)`,
          `insert into made_${n} (v) select md5(n::text) from generate_series(1, 20) n`,
        ];
      case 6: {
        const table = this.#tables.shift();
        if (table === undefined) return [];
        if (draw.chance(0.5)) return [`drop table made_${String(table)}`];
        this.#tables.push(number);
        return [
          `alter table made_${String(table)} rename to made_${n}`,
          `insert into made_${n} (id, v) values (${n}, 'renamed')`,
        ];
      }
      case 7:
        this.#tables.push(number);
        return [`create table made_${n} as select id, item as v from orders order by id limit 10`];
      default:
        return [
          `insert into scratch select n, n from generate_series(1, 30) n on conflict do nothing`,
          'truncate scratch',
          `insert into scratch values (${n}, 1)`,
        ];
    }
  }

  #dropColumn(): readonly string[] {
    const column = this.#columns.shift();
    return column === undefined ? [] : [`alter table orders drop column c${String(column)}`];
  }
}
