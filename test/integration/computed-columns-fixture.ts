import assert from 'node:assert/strict';
import { uniqueName } from '../support/services.ts';
import { SinkFixture } from './sink-fixture.ts';

/** Rows of one batch from which on they are copied. */
export const MANY = 200;

export function newTable(): string {
  return uniqueName('computed').replaceAll('-', '_');
}

export function at(i: number): number {
  return 1_767_225_600_000 + i;
}

/** A row with values for the columns that the database computes, too. */
export function cells(i: number) {
  return { k_timestamp: at(i), n: i, twice: 7, id: 900 + i, site: 'oslo' };
}

/** Sinks of tables with columns that the database computes: `twice` from `n`, `id` as an identity. */
export class ComputedColumnsFixture extends SinkFixture {
  static override async create(): Promise<ComputedColumnsFixture> {
    return new ComputedColumnsFixture('sink-computed', await SinkFixture.services('sink-computed'));
  }

  async createTable(table: string, key = 'primary key (k_timestamp, site)'): Promise<void> {
    await this.sql.run(
      `create table ${table} (k_timestamp timestamptz(3) not null, n int8, twice int8 generated always as (n * 2) stored,
        id int8 generated always as identity, site varchar(64) not null, ${key})`,
    );
  }

  async createTagged(table: string): Promise<void> {
    await this.createTable(table);
    await this.sql.run(`comment on column ${table}.site is 'sluice:primary-tag'`);
  }

  async assertStored(table: string, rows: number): Promise<void> {
    assert.deepEqual(
      await this.sql.rows(
        `select count(*), count(distinct n), sum(twice - n * 2), count(distinct id), max(id) < 900 from ${table}`,
      ),
      [[String(rows), String(rows), '0', String(rows), 't']],
    );
  }
}
