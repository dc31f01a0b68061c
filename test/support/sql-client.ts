import pg from 'pg';
import { isSecondTryAllowed } from './second-try.ts';
import type { TestDatabase } from './services.ts';

const DUPLICATE_TABLE = '42P07';

/** One connection of the test's own to look at what arrived; values are text, as the server prints them. */
export class SqlClient {
  readonly #database: TestDatabase;
  #client: Promise<pg.Client> | undefined;

  constructor(database: TestDatabase) {
    this.#database = database;
  }

  async rows(sql: string, parameters: readonly unknown[] = []): Promise<(string | null)[][]> {
    const client = await this.#connected();
    const result = await client.query<(string | null)[]>({
      text: sql,
      values: [...parameters],
      rowMode: 'array',
      types: { getTypeParser: () => (value: unknown) => value },
    });
    return result.rows;
  }

  /** The first cell, as a number. */
  async number(sql: string): Promise<number> {
    return Number((await this.rows(sql))[0]?.[0]);
  }

  async run(...statements: string[]): Promise<void> {
    const client = await this.#connected();
    for (const statement of statements) {
      try {
        await client.query(statement);
      } catch (error) {
        const table = secondTryTable(statement, error);
        if (table === undefined) throw error;
        await client.query(`drop table ${table} cascade`);
        await client.query(statement);
      }
    }
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    await client?.end().catch(() => undefined);
    this.#client = undefined;
  }

  /** One connection, also for callers that ask at the same time. */
  async #connected(): Promise<pg.Client> {
    this.#client ??= this.#connect().catch((error: unknown) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  async #connect(): Promise<pg.Client> {
    const { host, port, user, password, database } = this.#database;
    const client = new pg.Client({ host, port, user, password, database });
    client.on('error', () => {
      this.#client = undefined;
    });
    await client.connect();
    return client;
  }
}

/** The table that the first try left behind, which makes the second one fail. */
function secondTryTable(statement: string, error: unknown): string | undefined {
  if (!isSecondTryAllowed() || (error as { code?: unknown }).code !== DUPLICATE_TABLE) return undefined;
  return /^create table ([\w.]+|"[^"]+") /.exec(statement)?.[1];
}
