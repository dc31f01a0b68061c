import pg from 'pg';
import { isSecondTryAllowed } from './second-try.ts';
import type { TestDatabase } from './services.ts';

const DUPLICATE_TABLE = '42P07';

/** A connection of the test itself, to look at the stored rows. Values are text as the server prints it. */
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

  /** Returns the first cell as a number. */
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

  /** Returns the connection, which concurrent callers share. */
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

/** Returns the table that the first try left behind and that makes the second try fail. */
function secondTryTable(statement: string, error: unknown): string | undefined {
  if (!isSecondTryAllowed() || (error as { code?: unknown }).code !== DUPLICATE_TABLE) return undefined;
  return /^create table ([\w.]+|"[^"]+") /.exec(statement)?.[1];
}
