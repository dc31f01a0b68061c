import { ConnectError, type Logger } from '../../src/index.ts';
import { ownStatement, quoteIdentifier, quoteTable, type Executor, type Session } from '../database/index.ts';
import { listTables, type ListedTable } from './catalogue.ts';
import { parseLsn } from './lsn.ts';
import type { LogSettings } from './settings.ts';

const PUBLICATION = ownStatement(
  'log source: publication',
  `SELECT p.puballtables FROM pg_catalog.pg_publication p WHERE p.pubname = $1::name`,
);

const PUBLICATION_STATE = ownStatement(
  'log source: content of a publication',
  `SELECT p.pubinsert, p.pubupdate, p.pubdelete, p.pubtruncate,
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
  /** The process that reads it. */
  readonly activePid: string | undefined;
  /** Why the server no longer keeps what the slot needs, such as `wal_removed` and `idle_timeout`. */
  readonly invalidation: string | undefined;
}

export interface PublicationState {
  /** `schema.table` of each table. */
  readonly tables: readonly string[];
  /** Operations that it does not publish. */
  readonly omitted: readonly string[];
}

/** The publication; `undefined` if it does not exist. */
export async function readPublication(
  session: Pick<Session, 'ask'>,
  name: string,
): Promise<PublicationState | undefined> {
  const { rows } = await session.ask(PUBLICATION_STATE, [name]);
  const [row] = rows;
  if (row === undefined) return undefined;
  const omitted = ['insert', 'update', 'delete', 'truncate'].filter((_, index) => row[index] !== 't');
  return { tables: JSON.parse(row[4] ?? '[]') as readonly string[], omitted };
}

/** The tables that the settings include, ordered by name. Partitions count where the publication has their changes under their names. */
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

/** Creates the publication, or makes it fit, as `publication.autocreate.mode` says. @throws ConnectError if it must exist */
export async function ensurePublication(
  executor: Executor,
  settings: LogSettings,
  tables: readonly ListedTable[],
  logger: Logger,
): Promise<void> {
  const { name, autocreate, viaRoot } = settings.publication;
  const { rows } = await executor.ask(PUBLICATION, [name]);
  const publication = quoteIdentifier(name);
  const list = tables.map((table) => quoteTable(table)).join(', ');
  const exists = rows.length > 0;
  if (exists && autocreate !== 'filtered') return;
  if (!exists && autocreate === 'disabled') {
    throw new ConnectError('Publication autocreation is disabled, please create one and restart the connector.');
  }
  if (autocreate === 'filtered' && tables.length === 0) {
    throw new ConnectError(`No table matches the filters, so that publication ${name} would have no tables`);
  }
  if (exists) {
    await executor.query(`ALTER PUBLICATION ${publication} SET TABLE ${list}`);
    return;
  }
  const content = { all_tables: ' FOR ALL TABLES', filtered: ` FOR TABLE ${list}`, no_tables: '', disabled: '' }[
    autocreate
  ];
  const root = viaRoot ? ' WITH (publish_via_partition_root = true)' : '';
  await executor.query(`CREATE PUBLICATION ${publication}${content}${root}`);
  logger.info(`Created publication ${name}${content}`);
}

/** Sets the replica identities that the settings name. */
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

/** The slot of the settings; `undefined` if it does not exist. @throws ConnectError if it is another kind of slot */
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
  /** Microseconds since 1970. */
  readonly nowMicros: bigint;
  /** The last transaction that the current snapshot may see. */
  readonly lastXid: bigint;
}

/** @throws ConnectError if the server does not write what logical decoding needs */
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
