import { BoundedMap } from '../../../src/data/bounded-map.ts';
import { tableText, type TableName } from '../../../src/data/row-batch.ts';
import type { TableShape } from '../../../src/data/table-shape.ts';
import { DatabaseError } from '../../../src/errors.ts';
import { textArray } from '../sql/array-literal.ts';
import { createTableStatements, isKeyedByAllTags, tableOrder } from '../sql/create-table.ts';
import { DIALECT_QUERY, dialectOf, type Dialect } from '../sql/dialects/dialect.ts';
import { ownStatement } from '../sql/own-statement.ts';
import type { CreationPolicy, Session, TableCatalogue } from './api.ts';
import {
  ALL_TABLES,
  type CatalogueTable,
  DEFAULT_EXPRESSIONS,
  readTables,
  tableOfDefaults,
  TABLES_BY_NAME,
  withDefaults,
} from './catalogue-query.ts';
import { alreadyExists } from './sqlstate.ts';
import { MAX_IDENTIFIER_BYTES } from '../sql/quote.ts';
import { hypertableStatements } from '../sql/hypertable.ts';

/** Cached tables are read again after this time, so that changes by others are noticed even without an error. */
const MAX_AGE_MS = 60_000;
/** Cache size; beyond it, tables that were not used recently are evicted. */
const MAX_TABLES = 10_000;

const MAX_NAMES_AT_ONCE = 1_000;

export interface CatalogueSource {
  session<T>(work: (session: Session) => Promise<T>): Promise<T>;
}

interface KnownTable {
  readonly table: CatalogueTable;
  readonly readAt: number;
}

/** Caches table definitions for up to a minute. There is one per pool, and one per transaction. */
export class Catalogue implements TableCatalogue {
  readonly #source: CatalogueSource;
  /**
   * Set only in the catalogue of a transaction: the catalogue of the pool, whose entry for a table is used until the
   * transaction reads or changes that table. The whole catalogue of the pool is no longer used after `forget`, and
   * after a table was not found.
   */
  #outside: Catalogue | undefined;
  readonly #tables = new BoundedMap<string, KnownTable>(MAX_TABLES);
  #wasForgotten = false;
  readonly #reading = new Map<string, Promise<CatalogueTable | undefined>>();
  readonly #creating = new Map<string, Promise<CatalogueTable>>();
  #dialect: { readonly dialect: Promise<Dialect>; readonly askedAt: number } | undefined;

  constructor(source: CatalogueSource, outside?: Catalogue) {
    this.#source = source;
    this.#outside = outside;
  }

  /** Returns the cached table if it was read at most `maxAgeMs` ago; runs no query. */
  remembered(table: TableName, maxAgeMs = MAX_AGE_MS): CatalogueTable | undefined {
    const entry = this.#tables.get(keyOf(table));
    if (entry === undefined) return this.#outside?.remembered(table, maxAgeMs);
    return performance.now() - entry.readAt > maxAgeMs ? undefined : entry.table;
  }

  async find(table: TableName): Promise<CatalogueTable | undefined> {
    return this.remembered(table) ?? this.refresh(table);
  }

  async refresh(table: TableName): Promise<CatalogueTable | undefined> {
    return singleFlight(this.#reading, keyOf(table), async () => {
      const startedAt = performance.now();
      const found = await this.#source.session((session) => readTable(session, table));
      const entry = this.#tables.get(keyOf(table));
      // If this process has changed the table since the query began, the result may be outdated.
      if (entry !== undefined && entry.readAt > startedAt) return entry.table;
      this.#tables.delete(keyOf(table));
      if (found === undefined) this.#outside = undefined;
      else this.remember(table, found);
      return found;
    });
  }

  async findAll(tables: readonly TableName[]): Promise<readonly (CatalogueTable | undefined)[]> {
    const unknown = new Set<string>();
    for (const table of tables) {
      if (table.schema === undefined && isTableName(table.name) && this.remembered(table) === undefined) {
        unknown.add(table.name);
      }
    }
    const names = [...unknown];
    const found = new Map<string, CatalogueTable>();
    for (let from = 0; from < names.length; from += MAX_NAMES_AT_ONCE) {
      for (const table of await this.#readAll(names.slice(from, from + MAX_NAMES_AT_ONCE))) {
        found.set(table.name.name, table);
      }
    }
    const all: (CatalogueTable | undefined)[] = [];
    for (const table of tables) {
      const known = this.remembered(table) ?? found.get(table.name);
      all.push(known === undefined && table.schema !== undefined ? await this.find(table) : known);
    }
    return all;
  }

  async #readAll(names: readonly string[]): Promise<readonly CatalogueTable[]> {
    const startedAt = performance.now();
    const found = await this.#source.session((session) => readTablesNamed(session, names));
    for (const table of found) {
      const { name } = table.name;
      const entry = this.#tables.get(name);
      // As in `refresh`, the result may be outdated.
      if (entry === undefined || entry.readAt <= startedAt) this.remember({ name }, table);
    }
    return found;
  }

  forget(): void {
    this.#tables.clear();
    this.#dialect = undefined;
    this.#outside = undefined;
    this.#wasForgotten = true;
  }

  /** True if `forget` was called, because tables may have been changed. */
  get wasForgotten(): boolean {
    return this.#wasForgotten;
  }

  /** Takes over the tables read by a transaction that committed and did not change tables. */
  adopt(within: Catalogue): void {
    for (const [key, entry] of within.#tables) {
      const known = this.#tables.get(key);
      if (known === undefined || known.readAt < entry.readAt) this.#tables.set(key, entry);
    }
  }

  /** The result is refreshed once a minute, because extensions may be added or removed while connections stay open. */
  async dialect(): Promise<Dialect> {
    const outside = this.#outside;
    const known = this.#dialect ?? (outside === undefined ? undefined : outside.#dialect);
    if (known !== undefined && performance.now() - known.askedAt <= MAX_AGE_MS) return known.dialect;
    const dialect = this.#source.session(readDialect);
    const asked = { dialect, askedAt: performance.now() };
    this.#dialect = asked;
    dialect.catch(() => {
      if (this.#dialect === asked) this.#dialect = undefined;
    });
    return dialect;
  }

  async list(): Promise<readonly CatalogueTable[]> {
    return readTables(await this.#source.session((session) => session.ask(ALL_TABLES)));
  }

  async ensure(table: TableName, shape: TableShape, policy: CreationPolicy): Promise<CatalogueTable> {
    const known = this.remembered(table);
    if (known !== undefined && matches(known, shape)) return known;
    const found = (await this.refresh(table)) ?? (await this.#create(table, shape, policy));
    const difference = differences(found, shape);
    if (difference !== undefined) {
      throw new DatabaseError(`table "${tableText(table)}" does not match the message: ${difference}`, {
        scope: 'table',
        sqlstate: '42804',
      });
    }
    return found;
  }

  async #create(table: TableName, shape: TableShape, policy: CreationPolicy): Promise<CatalogueTable> {
    if (!policy.create) throw missing(table, ' and may not be created');
    if (policy.deferChanges === true) throw missing(table, ' yet');
    return singleFlight(this.#creating, keyOf(table), async () => {
      const dialect = await this.dialect();
      try {
        await this.#source.session((session) => createIfMissing(session, table, shape, policy, dialect));
      } catch (error) {
        // Another process may have created the table in the meantime.
        if (!(error instanceof DatabaseError) || !alreadyExists(error)) throw error;
      }
      const created = await this.refresh(table);
      if (created === undefined) throw missing(table, ' although it was just created: check the search path');
      return created;
    });
  }

  /** Caches a table that was just read, or that this process has just changed. */
  remember(table: TableName, found: CatalogueTable): void {
    this.#tables.set(keyOf(table), { table: found, readAt: performance.now() });
  }
}

/**
 * Creates the table under an advisory lock on its name, so that processes of Sluice take turns and the second one finds
 * the table. Other programs may create it concurrently, which causes an error (`alreadyExists`).
 */
async function createIfMissing(
  session: Session,
  table: TableName,
  shape: TableShape,
  policy: CreationPolicy,
  dialect: Dialect,
): Promise<void> {
  await session.transaction(async () => {
    await lockTable(session, table);
    if ((await readTable(session, table)) !== undefined) return;
    await createTable(session, table, shape, policy, dialect);
  });
}

const LOCK = ownStatement(
  "catalogue: lock of tables' names",
  'SELECT pg_advisory_xact_lock(hashtextextended(name, 0)) FROM unnest($1::text[]) AS wanted(name)',
);

/** Locks the table, until the end of the transaction, against other processes of Sluice that create or change it. */
export async function lockTable(session: Session, table: TableName): Promise<void> {
  await lockTables(session, [tableText(table)]);
}

/** Locks several tables in the given order, which must be the same for all callers. */
export async function lockTables(session: Session, tables: readonly string[]): Promise<void> {
  await session.ask(LOCK, [textArray(tables.map((table) => `sluice table ${table}`))]);
}

export async function readTable(session: Session, { name, schema }: TableName): Promise<CatalogueTable | undefined> {
  const [found] = await readTablesNamed(session, [name], schema);
  return found;
}

export async function readTablesNamed(
  session: Session,
  names: readonly string[],
  schema?: string,
): Promise<readonly CatalogueTable[]> {
  const found = readTables(await session.ask(TABLES_BY_NAME, [textArray(names), schema ?? null]));
  const complete: CatalogueTable[] = [];
  for (const table of found) {
    const oid = tableOfDefaults(table);
    complete.push(oid === undefined ? table : withDefaults(table, await session.query(DEFAULT_EXPRESSIONS, [oid])));
  }
  return complete;
}

async function readDialect(session: Session): Promise<Dialect> {
  const [version, timescaleSchema] = (await session.ask(DIALECT_QUERY)).rows[0] ?? [];
  return dialectOf(version ?? '', timescaleSchema ?? null);
}

/** Returns true if a table can have this name. A NUL would fail the query for all names. */
export function isTableName(name: string): boolean {
  return name.length <= MAX_IDENTIFIER_BYTES && !name.includes('\0') && Buffer.byteLength(name) <= MAX_IDENTIFIER_BYTES;
}

/** Tables known to match a shape, by shape. Decoders return the same shape object for equal descriptions of a table. */
const matching = new WeakMap<TableShape, CatalogueTable>();

function matches(table: CatalogueTable, shape: TableShape): boolean {
  if (matching.get(shape) === table) return true;
  if (differences(table, shape) !== undefined) return false;
  matching.set(shape, table);
  return true;
}

/**
 * Describes in one clause why the table does not match an exact shape; `undefined` if it matches or the shape is not
 * exact.
 */
function differences(table: CatalogueTable, shape: TableShape): string | undefined {
  if (!shape.exact) return undefined;
  const expected = tableOrder(shape.columns).map((column) => column.name);
  const actual = table.columns.map((column) => column.name);
  const absent = expected.filter((name) => !actual.includes(name));
  const extra = actual.filter((name) => !expected.includes(name));
  const clauses: string[] = [];
  if (absent.length > 0) clauses.push(`the table has no column ${quotedList(absent)}`);
  if (extra.length > 0) clauses.push(`the message does not list column ${quotedList(extra)} of the table`);
  if (clauses.length > 0) return clauses.join(', and ');
  const position = expected.findIndex((name, index) => actual[index] !== name);
  if (position < 0) return undefined;
  const number = String(position + 1);
  return `column ${number} is "${actual[position] ?? ''}" in the table and "${expected[position] ?? ''}" in the message`;
}

function quotedList(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

export function missing(table: TableName, consequence = ''): DatabaseError {
  return new DatabaseError(`table "${tableText(table)}" does not exist${consequence}`, {
    scope: 'table',
    sqlstate: '42P01',
  });
}

function keyOf(table: TableName): string {
  return table.schema === undefined ? table.name : `${table.schema}\0${table.name}`;
}

async function singleFlight<T>(flights: Map<string, Promise<T>>, key: string, start: () => Promise<T>): Promise<T> {
  const running = flights.get(key);
  if (running !== undefined) return running;
  const flight = start().finally(() => flights.delete(key));
  flights.set(key, flight);
  return flight;
}

/**
 * Creates the table in the transaction of the caller, which has locked its name. A time-series table becomes a
 * hypertable if the dialect supports it (docs/sink.md#tables-and-rows).
 */
export async function createTable(
  session: Session,
  table: TableName,
  shape: TableShape,
  { tableOptions }: Pick<CreationPolicy, 'tableOptions'>,
  dialect: Dialect,
): Promise<void> {
  await refuseTakenName(session, table);
  if (isKeyedByAllTags(shape) && !dialect.nullsNotDistinct) {
    const reason = 'a table with tags but without a primary tag requires PostgreSQL 15 or later';
    throw new DatabaseError(`cannot create table "${tableText(table)}": ${reason}`, {
      scope: 'table',
      sqlstate: '0A000',
      table: tableText(table),
    });
  }
  const time = shape.columns.find(({ role }) => role === 'time');
  const statements = [
    ...createTableStatements(table, shape, tableOptions),
    ...hypertableStatements(table, time?.name, dialect),
  ];
  for (const statement of statements) await session.query(statement);
}

const NAMESAKES = ownStatement(
  'catalogue: what has the name of a new table',
  `SELECT n.nspname, c.relkind FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relname = $1 AND c.relkind <> 't' AND (($2::text IS NULL AND n.nspname = 'pg_catalog')
    OR n.nspname = COALESCE($2::text, (current_setting('sluice.schemas')::name[])[1]) AND c.relkind NOT IN ('r', 'p', 'f', 'v'))`,
);

const KINDS: ReadonlyMap<string, string> = new Map([
  ['S', 'a sequence'],
  ['i', 'an index'],
  ['I', 'an index'],
  ['m', 'a materialized view'],
  ['c', 'a type'],
]);

/**
 * Throws if another object has the name of the table. Names in the system catalogue take precedence over those in any
 * schema of the search path.
 */
async function refuseTakenName(session: Session, { name, schema }: TableName): Promise<void> {
  const { rows } = await session.ask(NAMESAKES, [name, schema ?? null]);
  const [foundIn, kind] = rows[0] ?? [];
  if (typeof foundIn !== 'string') return;
  const reason =
    foundIn === 'pg_catalog' ? 'belongs to the system catalogue' : `is ${KINDS.get(kind ?? '') ?? 'not a table'}`;
  throw new DatabaseError(
    `"${name}" ${reason} (schema "${foundIn}"), so no table of that name can be created: use another name`,
    {
      scope: 'table',
      sqlstate: '42809',
    },
  );
}
