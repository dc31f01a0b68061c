import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { DatabaseError } from '../../../src/errors.ts';
import { ownStatement, qualifiedStatementOn } from '../sql/own-statement.ts';
import { quoteIdentifier } from '../sql/quote.ts';
import type { Connection } from './connection.ts';
import type { Answer } from './probe-result.ts';
import { isDenied } from './sqlstate.ts';

/** Timeout of each statement of a check, so that a lock on the catalogue does not delay a start. */
const OPTIONS = { timeoutMs: 3_000 } as const;
/** How long to wait for a notification. If notifications work, they arrive within milliseconds. */
const DELIVERY_MS = 1_000;
/**
 * YugabyteDB divides a COPY into transactions of 20,000 rows by default. With one more row, a COPY takes two
 * transactions.
 */
const COPIED_ROWS = 20_001;
/** Kinds of tables to try, in this order. Users who may not create tables can often create temporary ones. */
const TABLE_KINDS = ['TABLE', 'TEMPORARY TABLE'] as const;

const BACKEND = ownStatement('probe: backend', 'SELECT pg_backend_pid()');
const LOCK = ownStatement('probe: lock', 'SELECT pg_advisory_xact_lock($1::int8)');
const TRY_LOCK = ownStatement('probe: try the lock', 'SELECT pg_try_advisory_xact_lock($1::int8)');
const NOTIFY = ownStatement('probe: notify', "SELECT pg_notify($1, '')");
const SET = ownStatement('probe: local setting', "SELECT set_config('sluice.probe', 'set', true)");
const READ = ownStatement('probe: read the setting', "SELECT current_setting('sluice.probe', true)");
/** Creates a table in the first schema of the search path, or a temporary table. The transaction is rolled back. */
const createScratch = qualifiedStatementOn(
  'probe: create the table',
  (kind = '', table = '', key = '') => `CREATE ${kind} ${table} (n pg_catalog.int4 ${key}, v pg_catalog.text)`,
);
const upsertScratch = qualifiedStatementOn(
  'probe: upsert',
  (table = '') => `INSERT INTO ${table} AS t (n, v)
    SELECT * FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog._int4), pg_catalog.unnest($2::pg_catalog._text))
    ON CONFLICT (n) DO UPDATE SET v = EXCLUDED.v`,
);
const readScratch = qualifiedStatementOn(
  'probe: read the table',
  (table = '') => `SELECT pg_catalog.count(*), pg_catalog.max(v) FROM ${table}`,
);
const dropScratch = qualifiedStatementOn('probe: drop the table', (table = '') => `DROP TABLE ${table}`);
const unlisten = qualifiedStatementOn('probe: unlisten', (channel = '') => `UNLISTEN ${channel}`);
const VERSION = ownStatement('probe: version', 'SELECT version(), pg_is_in_recovery()');

type Check = (one: Connection, other: Connection) => Promise<Answer>;

/**
 * Runs a check. Returns `unknown` if the server does not permit or support it, or does not answer in time. Rejects if a
 * connection is lost, because the server is then unavailable and nothing is known about it.
 */
export async function answerOf(check: Check, one: Connection, other: Connection): Promise<Answer> {
  try {
    return await check(one, other);
  } catch (error) {
    if (one.lost !== undefined || other.lost !== undefined) throw error;
    return 'unknown';
  } finally {
    for (const connection of [one, other]) await rollBack(connection);
  }
}

export async function readVersion(connection: Connection): Promise<{ version: string; isStandby: boolean }> {
  const [row] = (await connection.ask(VERSION, [], OPTIONS)).rows;
  return { version: row?.[0] ?? '', isStandby: row?.[1] === 't' };
}

/** `yes` if all transactions of `one` run in the same backend, even if `other` uses the server between them. */
export async function keepsBackend(one: Connection, other: Connection): Promise<Answer> {
  const first = await backendOf(one);
  await begin(other);
  const second = await backendOf(other);
  const third = await backendOf(one);
  return answer(first === third && first !== second);
}

/** `yes` if a rollback removes the rows of a COPY. */
export async function rollsBackCopies(connection: Connection): Promise<Answer> {
  const table = quoteIdentifier(uniqueName());
  for (const kind of TABLE_KINDS) {
    if (!(await createTable(connection, createScratch(kind, table)))) continue;
    await connection.copyIn(`COPY ${table} (n) FROM STDIN`, rowMessages(COPIED_ROWS), OPTIONS);
    await connection.run({ text: 'ROLLBACK' }, OPTIONS);
    const left = await countRows(connection, table);
    if (left === undefined) return 'yes';
    await connection.run({ text: dropScratch(table) }, OPTIONS);
    return answer(left === 0);
  }
  return 'unknown';
}

/** `yes` if `INSERT … ON CONFLICT` can take its rows from arrays. */
export async function upsertsArrays(connection: Connection): Promise<Answer> {
  const table = quoteIdentifier(uniqueName());
  for (const kind of TABLE_KINDS) {
    if (!(await createTable(connection, createScratch(kind, table, 'PRIMARY KEY')))) continue;
    const text = upsertScratch(table);
    try {
      for (const value of ['a', 'b']) await connection.run({ text, values: ['{1}', `{${value}}`] }, OPTIONS);
    } catch (error) {
      if (error instanceof DatabaseError && isStatementUnknown(error)) return 'no';
      throw error;
    }
    const [row] = (await connection.run({ text: readScratch(table) }, OPTIONS)).rows;
    return answer(row?.[0] === '1' && row[1] === 'b');
  }
  return 'unknown';
}

/** `yes` if an advisory lock of a transaction is refused to other transactions. */
export async function locksExclude(one: Connection, other: Connection): Promise<Answer> {
  const key = String(randomBytes(8).readBigInt64BE());
  await begin(one);
  await one.ask(LOCK, [key], OPTIONS);
  const { rows } = await other.ask(TRY_LOCK, [key], OPTIONS);
  return answer(rows[0]?.[0] === 'f');
}

/** `yes` if a local setting ends with its transaction. */
export async function keepsSettingsLocal(connection: Connection): Promise<Answer> {
  await begin(connection);
  await connection.ask(SET, [], OPTIONS);
  const [inside] = (await connection.ask(READ, [], OPTIONS)).rows;
  await connection.run({ text: 'COMMIT' }, OPTIONS);
  const [outside] = (await connection.ask(READ, [], OPTIONS)).rows;
  return answer(inside?.[0] === 'set' && outside?.[0] !== 'set');
}

/** `yes` if notifications arrive on the connection that listens. */
export async function delivers(one: Connection, other: Connection): Promise<Answer> {
  const channel = uniqueName();
  const quoted = quoteIdentifier(channel);
  await one.run({ text: `LISTEN ${quoted}` }, OPTIONS);
  const aborted = AbortSignal.timeout(DELIVERY_MS);
  const delivered = once(one.client, 'notification', { signal: aborted }).then(
    () => true,
    () => false,
  );
  await other.ask(NOTIFY, [channel], OPTIONS);
  const isDelivered = await delivered;
  await one.run({ text: unlisten(quoted) }, OPTIONS);
  return answer(isDelivered);
}

/** Returns true if the server does not know the statement or a part of it, or does not support it. */
function isStatementUnknown(error: DatabaseError): boolean {
  return /^(?:42|0A)/.test(error.sqlstate ?? '') && !isDenied(error);
}

function answer(isTrue: boolean): Answer {
  return isTrue ? 'yes' : 'no';
}

function uniqueName(): string {
  return `sluice_probe_${randomBytes(6).toString('hex')}`;
}

async function begin(connection: Connection): Promise<void> {
  await connection.run({ text: 'BEGIN' }, OPTIONS);
}

async function rollBack(connection: Connection): Promise<void> {
  if (connection.lost !== undefined || connection.client.getTransactionStatus() === 'I') return;
  await connection.run({ text: 'ROLLBACK' }, OPTIONS).catch(() => connection.cut());
}

async function backendOf(connection: Connection): Promise<string | null | undefined> {
  return (await connection.ask(BACKEND, [], OPTIONS)).rows[0]?.[0];
}

/** Begins a transaction and creates a table in it; returns false if the table cannot be created. */
async function createTable(connection: Connection, text: string): Promise<boolean> {
  await begin(connection);
  try {
    await connection.run({ text }, OPTIONS);
    return true;
  } catch {
    await rollBack(connection);
    return false;
  }
}

/** Counts the rows of a table; `undefined` if the table does not exist. */
async function countRows(connection: Connection, table: string): Promise<number | undefined> {
  try {
    const { rows } = await connection.run({ text: readScratch(table) }, OPTIONS);
    return Number(rows[0]?.[0]);
  } catch (error) {
    if (error instanceof DatabaseError && error.sqlstate === '42P01') return undefined;
    throw error;
  }
}

/** A CopyData message with `count` rows in text format, followed by a CopyDone message. */
function rowMessages(count: number): Buffer {
  const rows = Buffer.from('1\n'.repeat(count));
  const head = Buffer.alloc(5);
  head.write('d', 'latin1');
  head.writeInt32BE(rows.length + 4, 1);
  return Buffer.concat([head, rows, Buffer.from([0x63, 0, 0, 0, 4])]);
}
