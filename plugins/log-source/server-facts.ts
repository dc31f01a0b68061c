import { ownStatement, type Executor } from '../database/index.ts';

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

const TABLES = ownStatement(
  'log source: facts of tables',
  `SELECT n.nspname, c.relname, c.relkind, c.relpersistence, c.relispartition, c.relreplident,
    EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisprimary),
    has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT'), pg_has_role(c.relowner, 'USAGE')
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'f') AND c.relpersistence <> 't'
    AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' ORDER BY n.nspname, c.relname`,
);

/** Facts about the server and the user on which the log source depends. */
export interface Requirements {
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

/** Properties of a table that decide whether its changes are in the log and in the publication. */
export interface TableFacts {
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

/** @throws DatabaseError */
export async function readRequirements(executor: Executor): Promise<Requirements> {
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

/** @throws DatabaseError */
export async function readTableFacts(executor: Executor): Promise<readonly TableFacts[]> {
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
