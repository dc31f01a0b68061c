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
import { existsNow, isRollback } from './sqlstate.ts';

/** What rows need of their table. */
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
 * A statement on the table that runs for long keeps ALTER TABLE waiting, and ALTER TABLE keeps everyone else waiting: after
 * this time it gives way, and the rows are the client's to send again (55P03, scope `infrastructure`).
 */
const LOCK_TIMEOUT = '10s';
const RETRIES = 5;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 1_000;

/**
 * Creates tables and makes them grow. One change at a time per table in this process; requests that come while one is being
 * made are put together into the next. Between processes an advisory lock keeps the order, and the table is looked at again
 * under it. A change holds no other lock when it asks for the table's, so that changes cannot wait for each other in a circle.
 */
export class SchemaGrowth {
  readonly #source: CatalogueSource;
  readonly #catalogue: Catalogue;
  /** By table; present while a change is being made. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(source: CatalogueSource, catalogue: Catalogue) {
    this.#source = source;
    this.#catalogue = catalogue;
  }

  /**
   * The table after it was made to fit as far as it can be: conflicts stay (schema-growth-plan.ts). Rejects with the
   * database's own error when the change is refused; then nothing was changed for this request.
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

  /**
   * Creates those of these tables that are missing, all in one transaction, for requests that may create them. What becomes of rows that need
   * more of them is for `grow`.
   */
  async createAll(requests: readonly GrowthRequest[]): Promise<void> {
    const dialect = await this.#catalogue.dialect();
    const tables = await this.#source.session((session) => createMissing(session, requests, dialect));
    for (const table of tables) this.#catalogue.remember({ name: table.name.name }, table);
  }

  /** Never rejects: failures go to those who wait. */
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
        // One request must not fail for what another one wants.
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

/** Others, who do not take our lock, may have been faster. */
function mayBeRepeated(error: DatabaseError): boolean {
  return isRollback(error) || existsNow(error);
}

/** The tables as they are then. */
async function createMissing(
  session: Session,
  requests: readonly GrowthRequest[],
  dialect: Dialect,
): Promise<readonly CatalogueTable[]> {
  const names = requests.map(({ batch }) => batch.table.name).sort();
  return session.transaction(async () => {
    await session.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    await lockTables(session, names);
    const there = new Set((await readTablesNamed(session, names)).map(({ name }) => name.name));
    for (const { batch, shape, growth } of requests) {
      if (!there.has(batch.table.name)) await createTable(session, batch.table, shape, growth, dialect);
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

/** Without the columns whose names the database cannot hold: their rows are refused, and nobody else's. */
function possible(growth: Growth): Growth {
  return { ...growth, add: growth.add.filter(isPossible) };
}

function isPossible(column: TableShape['columns'][number]): boolean {
  return impossibility(column) === undefined;
}

/** Why no table can have such a column; `undefined` when it can. */
export function impossibility(column: TableShape['columns'][number]): DatabaseError | undefined {
  try {
    quoteIdentifier(column.name);
    postgresType(column.type, column.length);
    return undefined;
  } catch (error) {
    if (error instanceof DatabaseError) return error;
    throw error;
  }
}
