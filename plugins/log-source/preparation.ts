import { ConnectError, type Logger } from '../../src/index.ts';
import { ownStatement, quoteIdentifier, quoteTable, type Executor, type Session } from '../database/index.ts';
import { listTables, type ListedTable } from './catalogue.ts';
import { STRUCTURE_TABLE } from './ddl-triggers.ts';
import { parseLsn } from './lsn.ts';
import type { LogSettings } from './settings.ts';

const PUBLICATION_STATE = ownStatement(
  'log source: content of a publication',
  `SELECT p.puballtables, pg_has_role(p.pubowner, 'USAGE'), p.pubinsert, p.pubupdate, p.pubdelete, p.pubtruncate,
    to_json(ARRAY(SELECT t.schemaname || '.' || t.tablename FROM pg_catalog.pg_publication_tables t
      WHERE t.pubname = p.pubname))::text
  FROM pg_catalog.pg_publication p WHERE p.pubname = $1::name`,
);

const SLOT = ownStatement(
  'log source: slot',
  `SELECT s.plugin, s.database, s.confirmed_flush_lsn, s.active_pid, current_database(),
    CASE WHEN s.wal_status = 'lost' THEN COALESCE(to_jsonb(s) ->> 'invalidation_reason', 'wal_removed') END
  FROM pg_catalog.pg_replication_slots s WHERE s.slot_name = $1::name`,
);

const SERVER = ownStatement(
  'log source: server',
  `SELECT current_setting('wal_level'), (extract(epoch from clock_timestamp()) * 1000000)::int8,
    pg_snapshot_xmax(pg_current_snapshot())`,
);

export interface SlotState {
  readonly confirmed: bigint;
  /** ID of the process that is reading the slot. */
  readonly activePid: string | undefined;
  /** The reason why the slot is invalidated, such as `wal_removed` or `idle_timeout`; `undefined` if the slot is valid. */
  readonly invalidation: string | undefined;
}

export interface PublicationState {
  /** Whether the publication is FOR ALL TABLES. */
  readonly hasAllTables: boolean;
  /** Whether the user may change the publication. */
  readonly isOwned: boolean;
  /** The published tables, as `schema.table`. */
  readonly tables: readonly string[];
  /** Operations that the publication does not publish. */
  readonly omitted: readonly string[];
}

/** Reads the state of a publication; `undefined` if it does not exist. */
export async function readPublication(
  session: Pick<Session, 'ask'>,
  name: string,
): Promise<PublicationState | undefined> {
  const { rows } = await session.ask(PUBLICATION_STATE, [name]);
  const [row] = rows;
  if (row === undefined) return undefined;
  const [hasAllTables, isOwned, ...operations] = row;
  return {
    hasAllTables: hasAllTables === 't',
    isOwned: isOwned === 't',
    tables: JSON.parse(operations[4] ?? '[]') as readonly string[],
    omitted: ['insert', 'update', 'delete', 'truncate'].filter((_, index) => operations[index] !== 't'),
  };
}

/**
 * Reads the tables that the settings include, ordered by name. If the publication publishes changes of partitions under the name of the
 * partitioned table, the partitioned table is included, otherwise its partitions.
 */
export async function capturedTables(
  session: Pick<Session, 'ask'>,
  settings: LogSettings,
): Promise<readonly ListedTable[]> {
  const tables = await listTables(session);
  return tables.filter((table) => {
    if (!settings.includesTable(table)) return false;
    return settings.publication.viaRoot ? !table.isPartition : !table.isPartitioned;
  });
}

/**
 * Creates the publication or updates its tables, according to `publication.autocreate.mode`.
 * @throws ConnectError if it is missing and must not be created, or if it would have no tables
 */
export async function ensurePublication(
  executor: Executor,
  settings: LogSettings,
  tables: readonly ListedTable[],
  logger: Logger,
): Promise<void> {
  const { name, autocreate } = settings.publication;
  const existing = await readPublication(executor, name);
  const list = tables.map((table) => quoteTable(table)).join(', ');
  if (existing !== undefined && (autocreate !== 'filtered' || existing.hasAllTables)) {
    const later = settings.hasDdl ? laterTablesProblem(existing, settings) : undefined;
    if (later !== undefined) logger.warn(`Publication ${name} ${later.message}. To fix it: ${later.fix}`);
    return;
  }
  if (existing === undefined && autocreate === 'disabled') {
    throw new ConnectError('Publication autocreation is disabled, please create one and restart the connector.');
  }
  if (autocreate === 'filtered' && tables.length === 0) {
    throw new ConnectError(`No table matches the filters, so that publication ${name} would have no tables`);
  }
  if (existing !== undefined) {
    await executor.query(`ALTER PUBLICATION ${quoteIdentifier(name)} SET TABLE ${list}`);
    return;
  }
  const content = { all_tables: ' FOR ALL TABLES', filtered: ` FOR TABLE ${list}`, no_tables: '', disabled: '' }[
    autocreate
  ];
  await executor.query(publicationSql(settings, content));
  logger.info(`Created publication ${name}${content}`);
}

/** @param content the tables, such as ` FOR ALL TABLES` */
export function publicationSql({ publication: { name, viaRoot } }: LogSettings, content: string): string {
  const root = viaRoot ? ' WITH (publish_via_partition_root = true)' : '';
  return `CREATE PUBLICATION ${quoteIdentifier(name)}${content}${root}`;
}

/** For `log.ddl`: the problem of a publication that is not for all tables, and the SQL that fixes it; `undefined` if there is none. */
export function laterTablesProblem(
  publication: PublicationState,
  settings: LogSettings,
): { readonly message: string; readonly fix: string } | undefined {
  if (publication.hasAllTables) return undefined;
  const message = publication.tables.includes(STRUCTURE_TABLE)
    ? 'is not FOR ALL TABLES: tables that are created later are not sent'
    : `is not FOR ALL TABLES and lacks ${STRUCTURE_TABLE}: tables that are created later are not sent, and neither are changes of the structure of the others`;
  const create = publicationSql(settings, ' FOR ALL TABLES');
  const fix = `as superuser: BEGIN; DROP PUBLICATION ${quoteIdentifier(settings.publication.name)}; ${create}; COMMIT;`;
  return { message, fix };
}

/** Sets the replica identities of `replica.identity.autoset.values`. */
export async function setReplicaIdentities(
  executor: Executor,
  settings: LogSettings,
  tables: readonly ListedTable[],
): Promise<void> {
  for (const table of tables) {
    const wanted = settings.identities.find(({ matches }) => matches(table))?.identity;
    if (wanted === undefined) continue;
    const [, kind = '', index] = /^(DEFAULT|FULL|NOTHING|INDEX)(?: (.+))?$/i.exec(wanted) ?? [];
    if (kind === '') throw new ConnectError(`replica.identity.autoset.values: ${wanted} is not a replica identity`);
    const identity = kind.toUpperCase() === 'INDEX' ? `USING INDEX ${quoteIdentifier(index ?? '')}` : kind;
    await executor.query(`ALTER TABLE ${quoteTable(table)} REPLICA IDENTITY ${identity}`);
  }
}

/** Reads the state of the slot; `undefined` if it does not exist. @throws ConnectError if the slot has another output plugin or database */
export async function readSlot(executor: Executor, { slot }: LogSettings): Promise<SlotState | undefined> {
  const { rows } = await executor.ask(SLOT, [slot.name]);
  const [row] = rows;
  if (row === undefined) return undefined;
  const [plugin, database, confirmed, activePid, current, invalidation] = row;
  if (plugin !== 'pgoutput') {
    throw new ConnectError(`Slot ${slot.name} has the output plugin ${plugin ?? 'of a physical slot'}, not pgoutput`);
  }
  if (database !== current) {
    throw new ConnectError(`Slot ${slot.name} belongs to database ${database ?? ''}, not to ${current ?? ''}`);
  }
  return {
    confirmed: parseLsn(confirmed ?? '0/0'),
    activePid: activePid ?? undefined,
    invalidation: invalidation ?? undefined,
  };
}

export interface ServerState {
  /** Time of the server in microseconds since 1970. */
  readonly nowMicros: bigint;
  /** The highest transaction ID that the current snapshot may see. */
  readonly lastXid: bigint;
}

/** @throws ConnectError if `wal_level` is not `logical` */
export async function readServer(session: Pick<Session, 'ask'>): Promise<ServerState> {
  const { rows } = await session.ask(SERVER);
  const [level, now, xmax] = rows[0] ?? [];
  if (level !== 'logical') {
    throw new ConnectError(
      `The server has wal_level=${level ?? ''}; run ALTER SYSTEM SET wal_level = logical, and restart the server`,
    );
  }
  return { nowMicros: BigInt(now ?? 0), lastXid: BigInt(xmax ?? 1) - 1n };
}
