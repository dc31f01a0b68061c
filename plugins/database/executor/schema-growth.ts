import { Backoff } from '../../../src/async/backoff.ts';
import { sleep } from '../../../src/async/sleep.ts';
import { type RowBatch, type TableName, tableText } from '../../../src/data/row-batch.ts';
import type { TableShape } from '../../../src/data/table-shape.ts';
import { DatabaseError } from '../../../src/errors.ts';
import type { Dialect } from '../sql/dialects/dialect.ts';
import { quoteIdentifier } from '../sql/quote.ts';
import { postgresType } from '../sql/type-names.ts';
import type { GrowthPolicy, Session } from './api.ts';
import {
  createTable,
  lockTable,
  lockTables,
  missing,
  readTable,
  readTablesNamed,
  type Catalogue,
  type CatalogueSource,
} from './catalogue.ts';
import type { CatalogueTable } from './catalogue-query.ts';
import { type Growth, growthStatements, mergeGrowth, permitted, planGrowth } from './schema-growth-plan.ts';
import { alreadyExists, isRollback } from './sqlstate.ts';

/** The requirements of a batch on its table. */
export interface GrowthRequest {
  readonly batch: RowBatch;
  readonly shape: TableShape;
  readonly growth: GrowthPolicy;
}

interface Waiting extends GrowthRequest {
  readonly resolve: (table: CatalogueTable) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Time limit for each lock of a change: the advisory lock and the lock of ALTER TABLE. A long-running statement blocks
 * ALTER TABLE, which in turn blocks all other statements on the table. After this time, the change fails (55P03, scope
 * `infrastructure`), and the caller must write the rows again.
 */
const LOCK_TIMEOUT = '10s';
const RETRIES = 5;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 1_000;

/**
 * Creates and extends tables. Within the process, there is one change at a time per table, and requests that arrive
 * during a change are combined into the next one. Between processes, an advisory lock serializes the changes, and the
 * table is read again under this lock. Outside the transactions of callers, a change holds no other locks when it
 * requests the advisory locks of its tables, in the order of their names. Such changes cannot deadlock.
 */
export class SchemaGrowth {
  readonly #source: CatalogueSource;
  readonly #catalogue: Catalogue;
  /** Pending requests by table; present while a change is in progress. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(source: CatalogueSource, catalogue: Catalogue) {
    this.#source = source;
    this.#catalogue = catalogue;
  }

  /**
   * Creates or extends the table as far as possible; conflicts remain (schema-growth-plan.ts). Rejects with the
   * database's error if the change fails; then nothing was changed for this request.
   */
  async grow(table: TableName, request: GrowthRequest): Promise<CatalogueTable> {
    return new Promise((resolve, reject) => {
      const waiting = { ...request, resolve, reject };
      const key = tableText(table);
      const queue = this.#waiting.get(key);
      if (queue !== undefined) {
        queue.push(waiting);
        return;
      }
      this.#waiting.set(key, [waiting]);
      void this.#drain(table, key);
    });
  }

  /** Creates the missing tables of these requests in one transaction. Other changes are left to `grow`. */
  async createAll(requests: readonly GrowthRequest[]): Promise<void> {
    const dialect = await this.#catalogue.dialect();
    const tables = await this.#source.session((session) => createMissing(session, requests, dialect));
    for (const table of tables) this.#catalogue.remember({ name: table.name.name }, table);
  }

  /** Never rejects: failures are passed to the waiting requests. */
  async #drain(table: TableName, key: string): Promise<void> {
    for (;;) {
      const requests = this.#waiting.get(key) ?? [];
      if (requests.length === 0) break;
      this.#waiting.set(key, []);
      await this.#serve(table, requests);
    }
    this.#waiting.delete(key);
  }

  async #serve(table: TableName, requests: readonly Waiting[]): Promise<void> {
    try {
      const grown = await this.#change(table, requests);
      for (const { resolve } of requests) resolve(grown);
    } catch (error) {
      if (requests.length === 1) {
        requests[0]?.reject(error);
      } else {
        // Repeats the requests one by one, so that no request fails because of another one.
        for (const request of requests) await this.#serve(table, [request]);
      }
    }
  }

  async #change(table: TableName, requests: readonly GrowthRequest[]): Promise<CatalogueTable> {
    const backoff = new Backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    for (let attempt = 0; ; attempt++) {
      try {
        const dialect = await this.#catalogue.dialect();
        const grown = await this.#source.session((session) => change(session, table, requests, dialect));
        this.#catalogue.remember(table, grown);
        return grown;
      } catch (error) {
        if (!(error instanceof DatabaseError) || attempt >= RETRIES || !mayBeRepeated(error)) throw error;
      }
      await sleep(backoff.nextMs());
    }
  }
}

/**
 * Returns true if a repetition may succeed: another program, which does not use the advisory lock, may have made the
 * same change first.
 */
function mayBeRepeated(error: DatabaseError): boolean {
  return isRollback(error) || alreadyExists(error);
}

/** Creates the tables that do not exist, and returns the definitions of all of them. */
async function createMissing(
  session: Session,
  requests: readonly GrowthRequest[],
  dialect: Dialect,
): Promise<readonly CatalogueTable[]> {
  const names = requests.map(({ batch }) => batch.table.name).sort();
  return session.transaction(async () => {
    await session.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    await lockTables(session, names);
    const existing = new Set((await readTablesNamed(session, names)).map(({ name }) => name.name));
    for (const { batch, shape, growth } of requests) {
      if (!existing.has(batch.table.name)) await createTable(session, batch.table, shape, growth, dialect);
    }
    return readTablesNamed(session, names);
  });
}

async function change(
  session: Session,
  table: TableName,
  requests: readonly GrowthRequest[],
  dialect: Dialect,
): Promise<CatalogueTable> {
  return session.transaction(async () => {
    await session.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    await lockTable(session, table);
    let found = await readTable(session, table);
    if (found === undefined) {
      const creator = requests.find(({ growth }) => growth.create);
      if (creator === undefined) throw missing(table, ' and may not be created');
      const creatable = { ...creator.shape, columns: creator.shape.columns.filter(isPossible) };
      await createTable(session, table, creatable, creator.growth, dialect);
      found = await readTable(session, table);
    }
    if (found === undefined) throw missing(table, ' although it was just created: check the search path');
    const existing = found;
    const growth = mergeGrowth(
      requests.map((request) =>
        possible(permitted(planGrowth(existing, request.batch, request.shape), request.growth)),
      ),
    );
    const statements = growthStatements(existing.name, growth);
    for (const statement of statements) await session.query(statement);
    return (statements.length === 0 ? undefined : await readTable(session, table)) ?? existing;
  });
}

/** Removes columns that no table can have, so that only the rows with values for these columns are refused. */
function possible(growth: Growth): Growth {
  return { ...growth, add: growth.add.filter(isPossible) };
}

function isPossible(column: TableShape['columns'][number]): boolean {
  return unsupportedReason(column) === undefined;
}

/** Returns why no table can have this column; `undefined` if the column is supported. */
export function unsupportedReason(column: TableShape['columns'][number]): DatabaseError | undefined {
  try {
    quoteIdentifier(column.name);
    postgresType(column.type, column.length);
    return undefined;
  } catch (error) {
    if (error instanceof DatabaseError) return error;
    throw error;
  }
}
