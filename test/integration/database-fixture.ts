import assert from 'node:assert/strict';
import type { Executor, QueryResult, WritePolicy } from '../../plugins/database/executor/api.ts';
import {
  openExecutor,
  parseConnectionUrl,
  type ExecutorOptions,
} from '../../plugins/database/executor/open-executor.ts';
import type { Cell, CellKind, ColumnRole, RowBatch } from '../../src/data/row-batch.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { database, type TestDatabase } from '../support/services.ts';

/** A database of its own with an executor on it; `close` in an after hook. */
export class DatabaseFixture {
  readonly access: TestDatabase;
  readonly executor: Executor;
  readonly #executors: Executor[] = [];

  private constructor(access: TestDatabase) {
    this.access = access;
    this.executor = this.open();
  }

  static async create(): Promise<DatabaseFixture> {
    return new DatabaseFixture(await database('executor'));
  }

  /** Another executor on the same database; parameters of the URL keep it from sharing the pool. */
  open(options: Partial<ExecutorOptions> = {}, parameters = ''): Executor {
    const executor = openExecutor(parseConnectionUrl(this.access.url + parameters), {
      logger: silentLogger,
      ...options,
    });
    this.#executors.push(executor);
    return executor;
  }

  /** An executor of another role. */
  as(user: string, password: string): Executor {
    const url = new URL(this.access.url);
    url.username = user;
    url.password = password;
    return this.openAt(url.href);
  }

  /** An executor of another URL. */
  openAt(url: string): Executor {
    const executor = openExecutor(parseConnectionUrl(url), { logger: silentLogger });
    this.#executors.push(executor);
    return executor;
  }

  async rows(sql: string, parameters: (string | null)[] = []): Promise<QueryResult['rows']> {
    return (await this.executor.query(sql, parameters)).rows;
  }

  async run(...statements: string[]): Promise<void> {
    for (const statement of statements) await this.executor.query(statement);
  }

  async close(): Promise<void> {
    await Promise.all(this.#executors.map((executor) => executor.close()));
  }
}

export const OVERRIDE: WritePolicy = { dedupRule: 'override', unknownColumns: 'fault' };
export const MERGE: WritePolicy = { ...OVERRIDE, dedupRule: 'merge' };

/** A column of a batch by `name:kind[:role]` and its cells. */
export type Columns = Readonly<Record<string, readonly Cell[]>>;

/** A batch whose row i came from offset i of topic `t`. */
export function batch(table: string, columns: Columns): RowBatch {
  const list = Object.entries(columns).map(([key, cells]) => {
    const [name = '', kind = 'text', role = 'data'] = key.split(':');
    return { name, kind: kind as CellKind, role: role as ColumnRole, cells: [...cells] };
  });
  const rowCount = list[0]?.cells.length ?? 0;
  for (const { cells } of list) assert.equal(cells.length, rowCount);
  const [schema, name] = table.includes('.') ? table.split('.') : [undefined, table];
  return {
    table: { schema, name: name ?? '' },
    rowCount,
    columns: list,
    origins: { at: (row) => ({ kind: 'record', topic: 't', partition: 0, offset: row }) },
  };
}

/** `count` numbers from 0. */
export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** The offsets that faults name. */
export function offsets(faults: readonly { readonly origin: unknown }[]): unknown[] {
  return faults.map(({ origin }) => (origin as { offset?: number } | undefined)?.offset);
}
