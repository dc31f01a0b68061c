import {
  ConnectError,
  fail,
  ok,
  silentLogger,
  toError,
  warn,
  type Finding,
  type OptionResult,
} from '../../src/index.ts';
import {
  connectWithAttempts,
  openExecutor,
  ownStatement,
  quoteIdentifier,
  quoteLiteral,
  quoteTable,
  type Executor,
} from '../database/index.ts';
import { ddlProblem } from './ddl-triggers.ts';
import { connectToServer, poolerError } from './pooler.ts';
import { laterTablesProblem, publicationSql, readPublication, readSlot, type PublicationState } from './preparation.ts';
import { readRequirements, readTableFacts, type Requirements, type TableFacts } from './server-facts.ts';
import type { LogSettings } from './settings.ts';
import { tableText } from './table-naming.ts';

/** A finding about the server, with the option of the connector that the finding concerns. */
interface PreflightFinding extends Finding {
  readonly option: string;
}

const READER = ownStatement(
  'log source: reader of a slot',
  `SELECT s.active_pid, a.application_name FROM pg_catalog.pg_replication_slots s
  LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = s.active_pid WHERE s.slot_name = $1::name AND s.active`,
);

const MAX_NAMED = 5;

/**
 * Checks the server before the connector starts. Most problems come with a fix, such as SQL. `fail`: the connector
 * cannot work; `warn`: it works, but changes may be missing, or the slot may be lost or fill the disk. The checks do
 * not change anything.
 * @throws DatabaseError
 */
export async function preflight(executor: Executor, settings: LogSettings): Promise<readonly PreflightFinding[]> {
  const server = await readRequirements(executor);
  const facts = await readTableFacts(executor);
  const publication = await readPublication(executor, settings.publication.name);
  const [reader] = (await executor.ask(READER, [settings.slot.name])).rows;
  const slot = await slotFindings(executor, settings, server, reader);
  const tables = facts.filter((table) => settings.includesTable(table));
  const captured = tables.filter(
    ({ kind, persistence, isPartition }) =>
      (settings.publication.viaRoot ? !isPartition && kind !== 'f' : kind === 'r') && persistence === 'p',
  );
  const findings = [
    ...serverFindings(server, settings),
    ...slot,
    ...publicationFindings(publication, captured, server, settings),
    ...tableFindings(tables, captured, server, settings),
    ...(await triggerFindings(executor, settings)),
  ];
  const isBlocked = findings.some(({ level }) => level === 'fail');
  return isBlocked || reader !== undefined ? findings : [...findings, ...(await connectionFindings(settings))];
}

function of(option: string, finding: Finding): PreflightFinding {
  return { option, ...finding };
}

function serverFindings(server: Requirements, { slot, names }: LogSettings): PreflightFinding[] {
  const { walLevel, keepSize, idleTimeout, mayReplicate, user, version } = server;
  const level =
    walLevel === 'logical'
      ? ok('wal_level', 'logical')
      : fail(
          'wal_level',
          `is ${walLevel}, so that changes cannot be decoded`,
          'ALTER SYSTEM SET wal_level = logical; then restart the server',
        );
  const role = mayReplicate
    ? ok('replication', `user ${user} may replicate`)
    : fail(
        'replication',
        `user ${user} lacks the attribute REPLICATION`,
        `ALTER ROLE ${quoteIdentifier(user)} REPLICATION;`,
      );
  const keep =
    keepSize === '-1'
      ? warn(
          'max_slot_wal_keep_size',
          'the slot of a stopped connector keeps the log until the disk is full',
          `ALTER SYSTEM SET max_slot_wal_keep_size = '50GB'; SELECT pg_reload_conf();`,
        )
      : ok('max_slot_wal_keep_size', `${keepSize}: a slot that is further behind is invalidated`);
  const findings = [of(names.server, level), of(names.user, role), of(names.slot, keep)];
  if (idleTimeout !== '0') {
    const message = `${idleTimeout}: the slot of a connector that is stopped for longer is invalidated`;
    const fix = 'ALTER SYSTEM RESET idle_replication_slot_timeout; SELECT pg_reload_conf();';
    findings.push(of(names.slot, warn('idle_replication_slot_timeout', message, fix)));
  }
  if (slot.isFailover && version < 170_000) {
    const message = 'failover slots exist since PostgreSQL 17';
    findings.push(of('slot.failover', fail('slot.failover', message, 'slot.failover=false')));
  }
  return findings;
}

/** Checks the slot, or whether it can be created. Also checks for a free WAL sender, unless a program already reads the slot. */
async function slotFindings(
  executor: Executor,
  settings: LogSettings,
  server: Requirements,
  reader: readonly (string | null)[] | undefined,
): Promise<PreflightFinding[]> {
  const { names } = settings;
  const { name } = settings.slot;
  const about = `slot ${name}`;
  const drop = `SELECT pg_drop_replication_slot(${quoteLiteral(name)});`;
  const findings: PreflightFinding[] = [];
  try {
    const slot = await readSlot(executor, settings);
    if (slot?.invalidation !== undefined) {
      const message = `was invalidated (${slot.invalidation}); the changes that it had are lost`;
      const isReplaced = ['when_needed', 'always'].includes(settings.snapshot.mode);
      findings.push(of(names.slot, (isReplaced ? warn : fail)(about, message, drop)));
    } else if (slot === undefined && server.usedSlots >= server.slots) {
      const message = `cannot be created: all ${String(server.slots)} slots of the server are in use`;
      const fix = `ALTER SYSTEM SET max_replication_slots = ${String(server.slots + 5)}; then restart the server`;
      findings.push(of(names.slot, fail(about, message, fix)));
    } else if (reader === undefined) {
      findings.push(of(names.slot, ok(about, slot === undefined ? 'is created at the first start' : 'is free')));
    }
  } catch (error) {
    findings.push(of(names.slot, fail(about, toError(error).message, `name another slot in ${names.slot}`)));
  }
  if (reader !== undefined) {
    const [pid, application] = reader;
    const message = `is read by process ${pid ?? ''} (${application ?? ''}); a slot has one reader`;
    const isWorker = application?.startsWith('sluice:') === true;
    const fix = `SELECT pg_terminate_backend(${pid ?? ''});`;
    findings.push(of(names.slot, isWorker ? ok(about, message) : warn(about, message, fix)));
  } else if (server.usedSenders >= server.senders) {
    const message = `all ${String(server.senders)} are in use`;
    const fix = `ALTER SYSTEM SET max_wal_senders = ${String(server.senders + 5)}; then restart the server`;
    findings.push(of(names.server, fail('max_wal_senders', message, fix)));
  }
  return findings;
}

function publicationFindings(
  publication: PublicationState | undefined,
  captured: readonly TableFacts[],
  server: Requirements,
  settings: LogSettings,
): PreflightFinding[] {
  const { name, autocreate } = settings.publication;
  const about = `publication ${name}`;
  const option = settings.names.publication;
  const quoted = quoteIdentifier(name);
  const list = captured.map((table) => quoteTable(table)).join(', ');
  if (publication === undefined) {
    if (autocreate === 'disabled') {
      const fix = `CREATE PUBLICATION ${quoted} FOR TABLE ${list === '' ? '…' : list};`;
      // Only a warning, as Debezium accepts this configuration: the publication may still be created before the task starts.
      const message = 'does not exist, and publication.autocreate.mode=disabled: tasks fail until it is created';
      return [of(option, warn(about, message, fix))];
    }
    if (autocreate === 'all_tables' && !server.isSuperuser) {
      const message = 'does not exist, and only a superuser may create one for all tables';
      return [of(option, fail(about, message, `as superuser: ${publicationSql(settings, ' FOR ALL TABLES')};`))];
    }
    if (!server.mayCreate && !server.isSuperuser) {
      const fix = `GRANT CREATE ON DATABASE ${quoteIdentifier(server.database)} TO ${quoteIdentifier(server.user)};`;
      return [of(option, fail(about, `cannot be created: user ${server.user} lacks CREATE on the database`, fix))];
    }
    return [...ownershipFindings(captured, server, settings), of(option, ok(about, 'is created at the first start'))];
  }
  const findings: PreflightFinding[] = [];
  if (autocreate === 'filtered' && !publication.hasAllTables) {
    if (!publication.isOwned) {
      const fix = `ALTER PUBLICATION ${quoted} OWNER TO ${quoteIdentifier(server.user)};`;
      findings.push(of(option, fail(about, 'only its owner may add tables to it', fix)));
    }
    findings.push(...ownershipFindings(captured, server, settings));
  } else {
    findings.push(...missingFindings(publication, captured, settings));
  }
  if (publication.omitted.length > 0) {
    const message = `does not publish ${publication.omitted.join(', ')}`;
    const fix = `ALTER PUBLICATION ${quoted} SET (publish = 'insert, update, delete, truncate');`;
    findings.push(of(option, warn(about, message, fix)));
  }
  if (findings.length > 0) return findings;
  return [of(option, ok(about, autocreate === 'filtered' ? 'gets the captured tables' : 'has all captured tables'))];
}

/** Reports captured tables that the publication lacks. With `log.ddl`, also reports that it will lack tables that are created later. */
function missingFindings(
  publication: PublicationState,
  captured: readonly TableFacts[],
  settings: LogSettings,
): PreflightFinding[] {
  const { name } = settings.publication;
  const about = `publication ${name}`;
  const option = settings.names.publication;
  const published = new Set(publication.tables);
  const missing = captured.filter((table) => !published.has(tableText(table)));
  const findings = missing.slice(0, MAX_NAMED).map((table) => {
    const fix = `ALTER PUBLICATION ${quoteIdentifier(name)} ADD TABLE ${quoteTable(table)};`;
    return of(option, warn(`table ${tableText(table)}`, `is not in ${about}: its changes are not sent`, fix));
  });
  if (missing.length > MAX_NAMED)
    findings.push(of(option, warn('tables', `${String(missing.length)} are not in ${about}, in total`)));
  const later = settings.hasDdl ? laterTablesProblem(publication, settings) : undefined;
  if (later !== undefined) findings.push(of(option, warn(about, later.message, later.fix)));
  return findings;
}

/** With `log.ddl`, checks whether the event triggers exist or can be created. */
async function triggerFindings(executor: Executor, { hasDdl }: LogSettings): Promise<PreflightFinding[]> {
  if (!hasDdl) return [];
  const problem = await ddlProblem(executor);
  if (problem === undefined) return [of('log.ddl', ok('event triggers', 'exist, or are created at the first start'))];
  return [of('log.ddl', fail('event triggers', problem.message, problem.fix))];
}

/** Reports tables that the user does not own. The connector cannot add such a table to the publication, which it keeps up to date. */
function ownershipFindings(
  captured: readonly TableFacts[],
  { isSuperuser, user }: Requirements,
  { publication, names }: LogSettings,
): PreflightFinding[] {
  if (publication.autocreate !== 'filtered' || isSuperuser) return [];
  return captured
    .filter(({ isOwned }) => !isOwned)
    .slice(0, MAX_NAMED)
    .map((table) => {
      const message = `only its owner may add it to publication ${publication.name}`;
      const fix = `ALTER TABLE ${quoteTable(table)} OWNER TO ${quoteIdentifier(user)};`;
      return of(names.autocreate, fail(`table ${tableText(table)}`, message, fix));
    });
}

function tableFindings(
  included: readonly TableFacts[],
  captured: readonly TableFacts[],
  { user }: Requirements,
  settings: LogSettings,
): PreflightFinding[] {
  const { names } = settings;
  const option = names.tables;
  const findings: PreflightFinding[] = [];
  const each = (
    tables: readonly TableFacts[],
    finding: (table: TableFacts, about: string) => PreflightFinding,
  ): void => {
    for (const table of tables.slice(0, MAX_NAMED)) findings.push(finding(table, `table ${tableText(table)}`));
    const first = tables[0];
    if (first === undefined || tables.length <= MAX_NAMED) return;
    const { level, message } = finding(first, '');
    findings.push(of(option, { level, about: 'tables', message: `${message}: ${String(tables.length)} in total` }));
  };
  const unlogged = included.filter(({ persistence }) => persistence === 'u');
  each(unlogged, (table, about) =>
    of(
      option,
      warn(about, 'is unlogged: its changes are not in the log', `ALTER TABLE ${quoteTable(table)} SET LOGGED;`),
    ),
  );
  const foreign = included.filter(({ kind }) => kind === 'f');
  each(foreign, (_, about) =>
    of(
      option,
      warn(
        about,
        'is a foreign table: its changes are in the log of another server',
        'read it with the polling source',
      ),
    ),
  );
  const unreadable = settings.snapshot.mode === 'no_data' ? [] : captured.filter(({ isReadable }) => !isReadable);
  each(unreadable, (table, about) => {
    const fix = `GRANT USAGE ON SCHEMA ${quoteIdentifier(table.schema)} TO ${quoteIdentifier(user)}; GRANT SELECT ON ${quoteTable(table)} TO ${quoteIdentifier(user)};`;
    return of(names.user, fail(about, 'the user lacks SELECT, which a snapshot needs', fix));
  });
  const isSet = (table: TableFacts): boolean => settings.identities.some(({ matches }) => matches(table));
  const unidentified = captured.filter(
    (table) => !isSet(table) && (table.identity === 'n' || (table.identity === 'd' && !table.hasPrimaryKey)),
  );
  each(unidentified, (table, about) => {
    const message = 'has no replica identity: the server refuses UPDATE and DELETE of a published table without one';
    return of(option, warn(about, message, `ALTER TABLE ${quoteTable(table)} REPLICA IDENTITY FULL;`));
  });
  if (captured.length === 0)
    findings.push(of(option, warn('tables', 'no table matches the filters', `check ${names.tables}`)));
  else if (findings.length === 0) findings.push(of(option, ok('tables', `${String(captured.length)} are captured`)));
  return findings;
}

/** Checks whether the server accepts a replication connection, which needs an entry in pg_hba.conf. */
async function connectionFindings(settings: LogSettings): Promise<PreflightFinding[]> {
  const about = 'replication connection';
  const option = settings.names.server;
  try {
    const { connection } = await connectToServer(settings);
    connection.close();
    return [of(option, ok(about, 'is accepted'))];
  } catch (error) {
    const { message } = toError(error);
    // A ConnectError means that the address is that of a pooler. Its message already says how to fix this.
    if (error instanceof ConnectError) return [of(option, fail(about, message))];
    const fix = `allow the user to replicate in pg_hba.conf, or name the server itself in ${settings.names.address}`;
    return [of(option, fail(about, `is refused: ${message}`, fix))];
  }
}

const CHECK_TIMEOUT_MS = 3_000;

/**
 * Returns the errors for `/validate`. Each of them prevents a connector with these settings from working.
 * @throws DatabaseError if the server cannot be reached
 */
export async function preflightProblems(settings: LogSettings): Promise<readonly OptionResult[]> {
  const connection = { ...settings.connection, connectTimeoutMs: CHECK_TIMEOUT_MS };
  const executor = openExecutor(connection, { logger: silentLogger, poolSize: 1 });
  try {
    await connectWithAttempts(executor, { attempts: 1, backoffMs: 0 });
    const findings = (await preflight(executor, settings)).filter(({ level }) => level === 'fail');
    return findings.map(({ option, about, message, remedy }) =>
      optionError(option, `${about}: ${message}${remedy === undefined ? '' : `. To fix it: ${remedy}`}`),
    );
  } catch (error) {
    const pooler = poolerError(error, settings);
    if (pooler === undefined) throw error;
    return [optionError(settings.names.server, pooler.message)];
  } finally {
    await executor.close();
  }
}

/** An error of one option in the format of `/validate`. */
export function optionError(name: string, message: string): OptionResult {
  return { name, value: null, recommendedValues: [], errors: [message], visible: true };
}
