import { fail, ok, toError, warn, type Finding } from '../../src/index.ts';
import {
  ownStatement,
  quoteIdentifier,
  quoteLiteral,
  quoteTable,
  ReplicationConnection,
  type Executor,
} from '../database/index.ts';
import { readPublication, readSlot, type PublicationState } from './preparation.ts';
import type { LogSettings } from './settings.ts';
import { tableText } from './table-naming.ts';

/** A finding about the server, with the option of the connector that it belongs to. */
interface PreflightFinding extends Finding {
  readonly option: string;
}

const SERVER = ownStatement(
  'log source: requirements',
  `SELECT current_setting('wal_level'), current_setting('max_replication_slots')::int8,
    (SELECT count(*) FROM pg_catalog.pg_replication_slots), current_setting('max_wal_senders')::int8,
    (SELECT count(*) FROM pg_catalog.pg_stat_replication), current_setting('max_slot_wal_keep_size'),
    COALESCE(current_setting('idle_replication_slot_timeout', true), '0'),
    r.rolreplication OR r.rolsuper OR EXISTS (SELECT FROM pg_catalog.pg_roles m
      WHERE m.rolname = 'rds_replication' AND pg_has_role(m.oid, 'MEMBER')),
    r.rolsuper, has_database_privilege(current_database(), 'CREATE'), current_user, current_database(),
    current_setting('server_version_num')::int4
  FROM pg_catalog.pg_roles r WHERE r.rolname = current_user`,
);

const READER = ownStatement(
  'log source: reader of a slot',
  `SELECT s.active_pid, a.application_name FROM pg_catalog.pg_replication_slots s
  LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = s.active_pid WHERE s.slot_name = $1::name AND s.active`,
);

const TABLES = ownStatement(
  'log source: facts of tables',
  `SELECT n.nspname, c.relname, c.relkind, c.relpersistence, c.relispartition, c.relreplident,
    EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisprimary),
    has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT'), pg_has_role(c.relowner, 'USAGE')
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'f') AND c.relpersistence <> 't'
    AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' ORDER BY n.nspname, c.relname`,
);

const MAX_NAMED = 5;

interface Requirements {
  readonly walLevel: string;
  readonly slots: number;
  readonly usedSlots: number;
  readonly senders: number;
  readonly usedSenders: number;
  readonly keepSize: string;
  readonly idleTimeout: string;
  readonly mayReplicate: boolean;
  readonly isSuperuser: boolean;
  readonly mayCreate: boolean;
  readonly user: string;
  readonly database: string;
  readonly version: number;
}

interface TableFacts {
  readonly schema: string;
  readonly name: string;
  readonly kind: string;
  readonly persistence: string;
  readonly isPartition: boolean;
  readonly identity: string;
  readonly hasPrimaryKey: boolean;
  readonly isReadable: boolean;
  readonly isOwned: boolean;
}

/**
 * Checks the server before the connector starts, each finding with the SQL that fixes it. `fail`: the connector cannot work; `warn`: it
 * may lose changes or its slot. Nothing is changed.
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
  ];
  const isBlocked = findings.some(({ level }) => level === 'fail');
  return isBlocked || reader !== undefined ? findings : [...findings, ...(await connectionFindings(settings))];
}

async function readRequirements(executor: Executor): Promise<Requirements> {
  const [row = []] = (await executor.ask(SERVER)).rows;
  const [walLevel, slots, usedSlots, senders, usedSenders, keepSize, idleTimeout, ...more] = row;
  const [mayReplicate, isSuperuser, mayCreate, user, database, version] = more;
  return {
    walLevel: walLevel ?? '',
    slots: Number(slots),
    usedSlots: Number(usedSlots),
    senders: Number(senders),
    usedSenders: Number(usedSenders),
    keepSize: keepSize ?? '',
    idleTimeout: idleTimeout ?? '',
    mayReplicate: mayReplicate === 't',
    isSuperuser: isSuperuser === 't',
    mayCreate: mayCreate === 't',
    user: user ?? '',
    database: database ?? '',
    version: Number(version),
  };
}

async function readTableFacts(executor: Executor): Promise<readonly TableFacts[]> {
  const { rows } = await executor.ask(TABLES);
  return rows.map(([schema, name, kind, persistence, isPartition, identity, hasPrimaryKey, isReadable, isOwned]) => ({
    schema: schema ?? '',
    name: name ?? '',
    kind: kind ?? '',
    persistence: persistence ?? '',
    isPartition: isPartition === 't',
    identity: identity ?? '',
    hasPrimaryKey: hasPrimaryKey === 't',
    isReadable: isReadable === 't',
    isOwned: isOwned === 't',
  }));
}

function of(option: string, finding: Finding): PreflightFinding {
  return { option, ...finding };
}

function serverFindings(server: Requirements, { slot }: LogSettings): PreflightFinding[] {
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
  const findings = [of('database.hostname', level), of('database.user', role), of('slot.name', keep)];
  if (idleTimeout !== '0') {
    const message = `${idleTimeout}: the slot of a connector that is stopped for longer is invalidated`;
    const fix = 'ALTER SYSTEM RESET idle_replication_slot_timeout; SELECT pg_reload_conf();';
    findings.push(of('slot.name', warn('idle_replication_slot_timeout', message, fix)));
  }
  if (slot.isFailover && version < 170_000) {
    const message = 'failover slots exist since PostgreSQL 17';
    findings.push(of('slot.failover', fail('slot.failover', message, 'slot.failover=false')));
  }
  return findings;
}

/** The slot, or whether it can be created. A slot that is read has its WAL sender already. */
async function slotFindings(
  executor: Executor,
  settings: LogSettings,
  server: Requirements,
  reader: readonly (string | null)[] | undefined,
): Promise<PreflightFinding[]> {
  const { name } = settings.slot;
  const about = `slot ${name}`;
  const drop = `SELECT pg_drop_replication_slot(${quoteLiteral(name)});`;
  const findings: PreflightFinding[] = [];
  try {
    const slot = await readSlot(executor, settings);
    if (slot?.invalidation !== undefined) {
      const message = `was invalidated (${slot.invalidation}); the changes that it had are lost`;
      const isReplaced = ['when_needed', 'always'].includes(settings.snapshot.mode);
      findings.push(of('slot.name', (isReplaced ? warn : fail)(about, message, drop)));
    } else if (slot === undefined && server.usedSlots >= server.slots) {
      const message = `cannot be created: all ${String(server.slots)} slots of the server are in use`;
      const fix = `ALTER SYSTEM SET max_replication_slots = ${String(server.slots + 5)}; then restart the server`;
      findings.push(of('slot.name', fail(about, message, fix)));
    } else if (reader === undefined) {
      findings.push(of('slot.name', ok(about, slot === undefined ? 'is created at the first start' : 'is free')));
    }
  } catch (error) {
    findings.push(of('slot.name', fail(about, toError(error).message, 'name another slot in slot.name')));
  }
  if (reader !== undefined) {
    const [pid, application] = reader;
    const message = `is read by process ${pid ?? ''} (${application ?? ''}); a slot has one reader`;
    const isWorker = application?.startsWith('sluice:') === true;
    const fix = `SELECT pg_terminate_backend(${pid ?? ''});`;
    findings.push(of('slot.name', isWorker ? ok(about, message) : warn(about, message, fix)));
  } else if (server.usedSenders >= server.senders) {
    const message = `all ${String(server.senders)} are in use`;
    const fix = `ALTER SYSTEM SET max_wal_senders = ${String(server.senders + 5)}; then restart the server`;
    findings.push(of('database.hostname', fail('max_wal_senders', message, fix)));
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
  const option = 'publication.name';
  const quoted = quoteIdentifier(name);
  const list = captured.map((table) => quoteTable(table)).join(', ');
  if (publication === undefined) {
    if (autocreate === 'disabled') {
      const fix = `CREATE PUBLICATION ${quoted} FOR TABLE ${list === '' ? '…' : list};`;
      // Debezium accepts the configuration: the publication may be created before the task starts.
      const message = 'does not exist, and publication.autocreate.mode=disabled: tasks fail until it is created';
      return [of(option, warn(about, message, fix))];
    }
    const all = `CREATE PUBLICATION ${quoted} FOR ALL TABLES;`;
    if (autocreate === 'all_tables' && !server.isSuperuser) {
      const message = 'does not exist, and only a superuser may create one for all tables';
      return [of(option, fail(about, message, `as superuser: ${all}`))];
    }
    if (!server.mayCreate && !server.isSuperuser) {
      const fix = `GRANT CREATE ON DATABASE ${quoteIdentifier(server.database)} TO ${quoteIdentifier(server.user)};`;
      return [of(option, fail(about, `cannot be created: user ${server.user} lacks CREATE on the database`, fix))];
    }
    return [...ownershipFindings(captured, server, settings), of(option, ok(about, 'is created at the first start'))];
  }
  if (autocreate === 'filtered') return ownershipFindings(captured, server, settings);
  const published = new Set(publication.tables);
  const missing = captured.filter((table) => !published.has(tableText(table)));
  const findings = missing.slice(0, MAX_NAMED).map((table) => {
    const fix = `ALTER PUBLICATION ${quoted} ADD TABLE ${quoteTable(table)};`;
    return of(option, warn(`table ${tableText(table)}`, `is not in ${about}: its changes are not sent`, fix));
  });
  if (missing.length > MAX_NAMED)
    findings.push(of(option, warn('tables', `${String(missing.length)} are not in ${about}, in total`)));
  if (publication.omitted.length > 0) {
    const message = `does not publish ${publication.omitted.join(', ')}`;
    const fix = `ALTER PUBLICATION ${quoted} SET (publish = 'insert, update, delete, truncate');`;
    findings.push(of(option, warn(about, message, fix)));
  }
  return findings.length > 0 ? findings : [of(option, ok(about, 'has all captured tables'))];
}

/** `publication.autocreate.mode=filtered` adds tables to a publication, which their owner may do. */
function ownershipFindings(
  captured: readonly TableFacts[],
  { isSuperuser, user }: Requirements,
  { publication }: LogSettings,
): PreflightFinding[] {
  if (publication.autocreate !== 'filtered' || isSuperuser) return [];
  return captured
    .filter(({ isOwned }) => !isOwned)
    .slice(0, MAX_NAMED)
    .map((table) => {
      const message = `only its owner may add it to publication ${publication.name}`;
      const fix = `ALTER TABLE ${quoteTable(table)} OWNER TO ${quoteIdentifier(user)};`;
      return of('publication.autocreate.mode', fail(`table ${tableText(table)}`, message, fix));
    });
}

function tableFindings(
  included: readonly TableFacts[],
  captured: readonly TableFacts[],
  { user }: Requirements,
  settings: LogSettings,
): PreflightFinding[] {
  const option = 'table.include.list';
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
    return of('database.user', fail(about, 'the user lacks SELECT, which a snapshot needs', fix));
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
    findings.push(of(option, warn('tables', 'no table matches the filters', 'check table.include.list')));
  else if (findings.length === 0) findings.push(of(option, ok('tables', `${String(captured.length)} are captured`)));
  return findings;
}

/** Poolers pass on ordinary connections, and no replication connections. */
async function connectionFindings(settings: LogSettings): Promise<PreflightFinding[]> {
  const about = 'replication connection';
  const option = 'database.hostname';
  try {
    const connection = await ReplicationConnection.open(settings.connection);
    try {
      await connection.command('IDENTIFY_SYSTEM');
    } finally {
      connection.close();
    }
    return [of(option, ok(about, 'is accepted'))];
  } catch (error) {
    const message = `is refused, although others are accepted: ${toError(error).message}. A pooler does not pass it on`;
    return [of(option, fail(about, message, 'name the server itself, and allow the user in pg_hba.conf'))];
  }
}
