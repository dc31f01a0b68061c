import { JavaPattern, javaRegexMatcher, parseOptions, type ConnectorConfig } from '../../src/index.ts';
import { parseConnectionUrl, type ConnectionSettings } from '../database/index.ts';
import { columnMasks, propagatedTypes, type ColumnMask, type Propagated } from './column-masks.ts';
import { DDL_SCHEMA } from './ddl-triggers.ts';
import { logSourceOptions } from './options.ts';
import { tableText, type TableNaming } from './table-naming.ts';

export interface ModeSettings {
  readonly decimals: 'precise' | 'double' | 'string';
  readonly times: 'adaptive' | 'adaptive_time_microseconds' | 'connect' | 'isostring' | 'microseconds' | 'nanoseconds';
  readonly binaries: 'bytes' | 'base64' | 'base64-url-safe' | 'hex';
  readonly hstores: 'json' | 'map';
  readonly intervals: 'numeric' | 'string';
  readonly moneyDigits: number;
  /** The value that represents a large value which a change did not touch. */
  readonly placeholder: string;
  readonly includesUnknown: boolean;
}

/** Names of options for use in messages. Each connector class has different names. */
export interface LogOptionNames {
  readonly server: string;
  /** The option or options with the host and the port. */
  readonly address: string;
  readonly user: string;
  readonly slot: string;
  readonly publication: string;
  /** The option that makes the connector keep its publication up to date. */
  readonly autocreate: string;
  readonly tables: string;
  readonly snapshotMode: string;
}

const NAMES: LogOptionNames = {
  server: 'database.hostname',
  address: 'database.hostname and database.port',
  user: 'database.user',
  slot: 'slot.name',
  publication: 'publication.name',
  autocreate: 'publication.autocreate.mode',
  tables: 'table.include.list',
  snapshotMode: 'snapshot.mode',
};

export type SnapshotMode = 'always' | 'initial' | 'initial_only' | 'no_data' | 'when_needed';

/** The parsed configuration of the connector. */
export interface LogSettings {
  readonly names: LogOptionNames;
  readonly connection: ConnectionSettings;
  /** Limit for attempts to connect at the start. Later, there is no limit for reopening a broken stream. */
  readonly attempts: { readonly attempts: number; readonly backoffMs: number };
  /** `topic.prefix`, the name of this source. */
  readonly prefix: string;
  readonly slot: {
    readonly name: string;
    readonly isFailover: boolean;
    readonly dropOnStop: boolean;
    readonly retries: number;
    readonly retryDelayMs: number;
    readonly statusIntervalMs: number;
  };
  /** Maximum size of the log that the server keeps for the slot (0: unlimited), and the action when it is exceeded. */
  readonly guard: { readonly maxBytes: number; readonly action: 'warn' | 'fail' | 'drop-slot' };
  readonly publication: {
    readonly name: string;
    readonly autocreate: 'disabled' | 'all_tables' | 'filtered' | 'no_tables';
    readonly viaRoot: boolean;
  };
  /**
   * Whether changes of table structures are sent (`log.ddl`). They are complete only with a publication for all tables.
   */
  readonly hasDdl: boolean;
  /** Matchers of tables, each with the replica identity that the matching tables get. */
  readonly identities: readonly { readonly matches: (table: TableNaming) => boolean; readonly identity: string }[];
  readonly snapshot: {
    readonly mode: SnapshotMode;
    readonly fetchSize: number;
    readonly includes: (table: TableNaming) => boolean;
    readonly statementOf: (table: TableNaming) => string | undefined;
  };
  readonly heartbeat: { readonly intervalMs: number; readonly topic: string; readonly sql: string | undefined };
  readonly queue: {
    readonly batchSize: number;
    readonly size: number;
    readonly bytes: number;
    readonly pollMs: number;
  };
  readonly modes: ModeSettings;
  readonly tombstones: boolean;
  readonly headers: boolean;
  readonly skips: ReadonlySet<string>;
  readonly includesTable: (table: TableNaming) => boolean;
  /** Whether a table is the signal table. */
  readonly isSignalTable: (table: TableNaming) => boolean;
  readonly includesColumn: (table: TableNaming, column: string) => boolean;
  /** Key columns of a table from `message.key.columns`; `undefined` if the table's own key is used. */
  readonly keyColumnsOf: (table: TableNaming) => readonly string[] | undefined;
  readonly topicOf: (table: TableNaming) => TableTopic;
  readonly masks: readonly ColumnMask[];
  readonly propagated: Propagated;
  readonly includesMessage: (prefix: string) => boolean;
  /** Whether records contain their transaction and their number in it, and whether its begin and end have records of their own. */
  readonly transactionMetadata: boolean;
  /** Topic of notifications; `undefined`: no notifications are sent. */
  readonly notificationTopic: string | undefined;
  readonly adjustSchemaName: (name: string) => string;
  readonly adjustFieldName: (name: string) => string;
}

const REGEX_STRATEGY = 'io.debezium.schema.SchemaRegexTopicNamingStrategy';
const CONNECT_ATTEMPTS = 3;
const CONNECT_BACKOFF_MS = 2_000;
const DEFAULT_QUEUE_BYTES = 16 * 1024 * 1024;

/** @throws ConfigError if an option is wrong */
export function logSettings(config: ConnectorConfig): LogSettings {
  const options = parseOptions(logSourceOptions, config);
  const prefix = options['topic.prefix'] ?? '';
  const tables = tableFilter(options);
  const signals = new Set(options['signal.data.collection'] ?? []);
  const isSignalTable = (table: TableNaming): boolean => signals.has(tableText(table));
  const snapshotList = patterns(options['snapshot.include.collection.list']);
  const lower = <T extends string>(value: string | null): T => (value ?? '').toLowerCase() as T;
  return {
    names: NAMES,
    connection: connectionOf(options),
    attempts: { attempts: CONNECT_ATTEMPTS, backoffMs: CONNECT_BACKOFF_MS },
    prefix,
    slot: {
      name: options['slot.name'] ?? '',
      isFailover: options['slot.failover'] ?? false,
      dropOnStop: options['slot.drop.on.stop'] ?? false,
      retries: options['slot.max.retries'] ?? 0,
      retryDelayMs: Number(options['slot.retry.delay.ms']),
      statusIntervalMs: options['status.update.interval.ms'],
    },
    guard: { maxBytes: Number(options['log.max.lag.bytes']), action: lower(options['log.max.lag.action']) },
    publication: {
      name: options['publication.name'] ?? '',
      autocreate: lower(options['publication.autocreate.mode']),
      viaRoot: options['publish.via.partition.root'] ?? false,
    },
    hasDdl: false,
    identities: identitiesOf(options['replica.identity.autoset.values']),
    snapshot: {
      mode: lower(options['snapshot.mode']),
      fetchSize: options['snapshot.fetch.size'] ?? 1,
      includes: (table) => snapshotList?.some((matches) => matches(tableText(table))) ?? true,
      statementOf: statementsOf(config, options['snapshot.select.statement.overrides']),
    },
    heartbeat: {
      intervalMs: options['heartbeat.interval.ms'] ?? 0,
      topic: `${options['heartbeat.topics.prefix'] ?? ''}.${prefix}`,
      sql: options['heartbeat.action.query'] ?? undefined,
    },
    queue: {
      batchSize: options['max.batch.size'] ?? 1,
      size: options['max.queue.size'] ?? 1,
      bytes: Number(options['max.queue.size.in.bytes']) || DEFAULT_QUEUE_BYTES,
      pollMs: Number(options['poll.interval.ms']),
    },
    modes: {
      decimals: lower(options['decimal.handling.mode']),
      times: lower(options['time.precision.mode']),
      binaries: lower(options['binary.handling.mode']),
      hstores: lower(options['hstore.handling.mode']),
      intervals: lower(options['interval.handling.mode']),
      moneyDigits: options['money.fraction.digits'] ?? 2,
      placeholder: options['unavailable.value.placeholder'] ?? '',
      includesUnknown: options['include.unknown.datatypes'] ?? false,
    },
    tombstones: options['tombstones.on.delete'] ?? true,
    headers: options['extended.headers.enabled'] ?? true,
    skips: new Set((options['skipped.operations'] ?? []).map((operation) => operation.toLowerCase())),
    includesTable: (table) => isSignalTable(table) || (table.schema !== DDL_SCHEMA && tables(table)),
    isSignalTable,
    includesColumn: columnFilter(options),
    keyColumnsOf: keyColumns(options['message.key.columns']),
    topicOf: topicNaming(options),
    masks: columnMasks(config),
    propagated: propagatedTypes(config),
    includesMessage: included(
      patterns(options['message.prefix.include.list']),
      patterns(options['message.prefix.exclude.list']),
    ),
    transactionMetadata: options['provide.transaction.metadata'] ?? false,
    notificationTopic: (options['notification.enabled.channels'] ?? []).includes('sink')
      ? (options['notification.sink.topic.name'] ?? undefined)
      : undefined,
    adjustSchemaName: nameAdjuster(options['schema.name.adjustment.mode'], '.'),
    adjustFieldName: nameAdjuster(options['field.name.adjustment.mode'], ''),
  };
}

type Options = ReturnType<typeof parseOptions<typeof logSourceOptions>>;

export interface TableTopic {
  readonly topic: string;
  /** Name of an additional key field with `physicalTable`, which keeps keys unique if several tables share a topic. */
  readonly keyField?: string;
  readonly physicalTable?: string;
}

/** Implements io.debezium.schema.SchemaTopicNamingStrategy and SchemaRegexTopicNamingStrategy. */
function topicNaming(options: Options): (table: TableNaming) => TableTopic {
  const prefix = options['topic.prefix'] ?? '';
  const plain = (table: TableNaming): string => `${prefix}.${tableText(table)}`.replace(/[^\w.-]/g, '_');
  const [regex, replacement] = [options['topic.regex'], options['topic.replacement']];
  if (options['topic.naming.strategy'] !== REGEX_STRATEGY || regex === null || replacement === null) {
    return (table) => ({ topic: plain(table) });
  }
  const pattern = JavaPattern.compile(regex);
  return (table) => {
    const physicalTable = plain(table);
    const keyField = options['topic.key.enforce.uniqueness'] ? '__dbz__physicalTableIdentifier' : undefined;
    const topic = pattern.matches(physicalTable) ? pattern.replaceFirst(physicalTable, replacement) : physicalTable;
    return { topic, physicalTable, ...(keyField !== undefined && { keyField }) };
  };
}

function connectionOf(options: Options): ConnectionSettings {
  const host = options['database.hostname'] ?? '';
  const parameters = new URLSearchParams({ sslmode: (options['database.sslmode'] ?? 'prefer').toLowerCase() });
  for (const name of ['sslrootcert', 'sslcert', 'sslkey'] as const) {
    const value = options[`database.${name}`];
    if (value !== null && value !== '') parameters.set(name, value);
  }
  const server = `${host.includes(':') ? `[${host}]` : host}:${String(options['database.port'])}`;
  return parseConnectionUrl(`postgresql://${server}/?${parameters.toString()}`, {
    user: options['database.user'],
    password: options['database.password'],
    database: options['database.dbname'],
  });
}

type Matcher = (text: string) => boolean;

/** Case-insensitive matchers of complete names; `undefined` if the list is absent or empty. */
function patterns(list: readonly string[] | null): readonly Matcher[] | undefined {
  const given = (list ?? []).filter((pattern) => pattern !== '');
  return given.length === 0 ? undefined : given.map((pattern) => javaRegexMatcher(`(?i)${pattern}`));
}

function included(include: readonly Matcher[] | undefined, exclude: readonly Matcher[] | undefined): Matcher {
  return (text) =>
    (include?.some((matches) => matches(text)) ?? true) && !(exclude?.some((matches) => matches(text)) ?? false);
}

function tableFilter(options: Options): (table: TableNaming) => boolean {
  const schemas = included(patterns(options['schema.include.list']), patterns(options['schema.exclude.list']));
  const tables = included(patterns(options['table.include.list']), patterns(options['table.exclude.list']));
  return (table) => schemas(table.schema) && tables(tableText(table));
}

function columnFilter(options: Options): (table: TableNaming, column: string) => boolean {
  const columns = included(patterns(options['column.include.list']), patterns(options['column.exclude.list']));
  return (table, column) => columns(`${tableText(table)}.${column}`);
}

function keyColumns(list: string | null): LogSettings['keyColumnsOf'] {
  const entries = (list ?? '').split(';').flatMap((entry) => {
    const [, table, columns] = /^([^:]+):([^:]+)$/.exec(entry.trim()) ?? [];
    if (table === undefined || columns === undefined) return [];
    return { matches: javaRegexMatcher(`(?i)${table}`), columns: columns.split(',').map((column) => column.trim()) };
  });
  return (table) => entries.find(({ matches }) => matches(tableText(table)))?.columns;
}

function identitiesOf(list: string | null): LogSettings['identities'] {
  return (list ?? '').split(',').flatMap((entry) => {
    const [, table, identity] = /^([^:]+):(.+)$/.exec(entry.trim()) ?? [];
    if (table === undefined || identity === undefined) return [];
    const matches = javaRegexMatcher(`(?i)${table}`);
    return { matches: (named: TableNaming) => matches(tableText(named)), identity };
  });
}

function statementsOf(config: ConnectorConfig, list: string | null): LogSettings['snapshot']['statementOf'] {
  const named = new Set((list ?? '').split(',').map((table) => table.trim()));
  return (table) => {
    if (!named.has(tableText(table))) return undefined;
    return config[`snapshot.select.statement.overrides.${tableText(table)}`];
  };
}

/** Replaces characters that Avro does not allow in names (io.debezium.schema.SchemaNameAdjuster). */
function nameAdjuster(mode: string | null, separator: '.' | ''): (name: string) => string {
  const lower = (mode ?? 'none').toLowerCase();
  if (lower === 'none') return (name) => name;
  const replacement = (character: string): string => {
    if (lower === 'avro') return '_';
    return `_u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  };
  const adjust = (part: string): string => {
    const adjusted = part.replace(/[^A-Za-z0-9_]/g, replacement);
    if (!/^\d/.test(adjusted)) return adjusted;
    return lower === 'avro' ? `_${adjusted}` : replacement(adjusted.charAt(0)) + adjusted.slice(1);
  };
  return (name) => (separator === '' ? adjust(name) : name.split(separator).map(adjust).join(separator));
}
