import { declareOptions } from '../../src/index.ts';
import { list, text } from './option-declarations.ts';
import { AT_LEAST_ONE, AT_LEAST_ZERO, MESSAGE_KEYS, SLOT_NAME, choice, required } from './option-validators.ts';
import { recordOptions } from './record-options.ts';

const DATABASE = 'Database';
const LOG = 'Write-ahead log';
const TABLES = 'Tables';
const SNAPSHOT = 'Snapshot';

/**
 * Options of io.debezium.connector.postgresql.PostgresConnector. Names, types, defaults and messages are Debezium's,
 * except those of `log.max.lag.…`, which Debezium does not have. Options of Debezium that this connector does not
 * support are in `unsupported-options.ts`.
 */
export const logSourceOptions = declareOptions({
  'database.hostname': {
    ...text(DATABASE, 'Host name', 'Host name or address of the PostgreSQL server.'),
    importance: 'HIGH',
    validator: required(),
  },
  'database.port': {
    type: 'INT',
    default: 5432,
    importance: 'HIGH',
    documentation: 'Port of the PostgreSQL server.',
    group: DATABASE,
    width: 'SHORT',
    displayName: 'Port',
  },
  'database.user': {
    ...text(DATABASE, 'User', 'User with the attribute REPLICATION and with SELECT on the captured tables.'),
    importance: 'HIGH',
    validator: required(),
  },
  'database.password': {
    type: 'PASSWORD',
    default: null,
    importance: 'HIGH',
    documentation: 'Password of the user.',
    group: DATABASE,
    width: 'MEDIUM',
    displayName: 'Password',
  },
  'database.dbname': {
    ...text(DATABASE, 'Database', 'Name of the database.'),
    importance: 'HIGH',
    validator: required(),
  },
  'database.sslmode': {
    ...text(
      DATABASE,
      'TLS mode',
      'Whether the connection is encrypted and the server verified, as in libpq: disable, allow, prefer, require, verify-ca or verify-full.',
    ),
    default: 'prefer',
    validator: choice('disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'),
  },
  'database.sslrootcert': text(DATABASE, 'Root certificates', 'PEM file with the trusted CA certificates.'),
  'database.sslcert': text(DATABASE, 'Client certificate', 'File with the certificate of the client.'),
  'database.sslkey': text(DATABASE, 'Client key', 'File with the private key of the client.'),
  'plugin.name': {
    ...text(LOG, 'Output plugin', 'Output plugin of the slot. Only pgoutput is supported.'),
    default: 'pgoutput',
    validator: choice('pgoutput'),
  },
  'slot.name': {
    ...text(LOG, 'Slot', 'Name of the replication slot, which is created if it does not exist.'),
    default: 'debezium',
    validator: SLOT_NAME,
  },
  'slot.drop.on.stop': {
    type: 'BOOLEAN',
    default: false,
    importance: 'MEDIUM',
    documentation:
      'Whether the slot is dropped when the task stops. Changes made while it is stopped are then lost. For tests only.',
    group: LOG,
    width: 'SHORT',
    displayName: 'Drop slot on stop',
  },
  'slot.failover': {
    type: 'BOOLEAN',
    default: false,
    importance: 'MEDIUM',
    documentation:
      'Whether the slot is created as a failover slot, which standbys synchronize (PostgreSQL 17 or later).',
    group: LOG,
    width: 'SHORT',
    displayName: 'Failover slot',
  },
  'slot.max.retries': {
    type: 'INT',
    default: 6,
    importance: 'LOW',
    documentation: 'Number of retries to start the stream while another process reads the slot.',
    validator: AT_LEAST_ZERO,
    group: LOG,
    width: 'SHORT',
    displayName: 'Slot retries',
  },
  'slot.retry.delay.ms': {
    type: 'LONG',
    default: 10_000,
    importance: 'LOW',
    documentation:
      'Maximum number of milliseconds before a retry to start the stream. The first retry is after 500 ms, and the time doubles.',
    validator: AT_LEAST_ZERO,
    group: LOG,
    width: 'SHORT',
    displayName: 'Slot retry delay (ms)',
  },
  'status.update.interval.ms': {
    type: 'INT',
    default: 10_000,
    importance: 'MEDIUM',
    documentation: 'Milliseconds between reports of the position to the server.',
    validator: AT_LEAST_ONE,
    group: LOG,
    width: 'SHORT',
    displayName: 'Status interval (ms)',
  },
  'log.max.lag.bytes': {
    type: 'LONG',
    default: 0,
    importance: 'MEDIUM',
    documentation: 'Maximum number of bytes of its log that the server should keep for the slot; 0 for no limit.',
    validator: AT_LEAST_ZERO,
    group: LOG,
    width: 'SHORT',
    displayName: 'Largest lag (bytes)',
  },
  'log.max.lag.action': {
    ...text(
      LOG,
      'Action at largest lag',
      'What happens above log.max.lag.bytes. warn: the health of the connector is DEGRADED, and it keeps running. fail: the task fails. drop-slot: the task fails and the slot is dropped, so changes are lost.',
    ),
    default: 'warn',
    validator: choice('warn', 'fail', 'drop-slot'),
  },
  'publication.name': {
    ...text(LOG, 'Publication', 'Name of the publication whose tables are streamed.'),
    default: 'dbz_publication',
  },
  'publication.autocreate.mode': {
    ...text(
      LOG,
      'Create publication',
      'Tables of a publication that the connector creates: all_tables, filtered (the captured tables, updated at each start) or no_tables; disabled creates none.',
    ),
    default: 'all_tables',
    validator: choice('disabled', 'all_tables', 'filtered', 'no_tables'),
  },
  'publish.via.partition.root': {
    type: 'BOOLEAN',
    default: false,
    importance: 'MEDIUM',
    documentation:
      'Whether a publication that the connector creates has changes of partitions as changes of the partitioned table.',
    group: LOG,
    width: 'SHORT',
    displayName: 'Publish by partition root',
  },
  'replica.identity.autoset.values': text(
    LOG,
    'Replica identities',
    'Replica identities that the connector sets, such as `public.orders:FULL,public.lines:INDEX lines_key`.',
  ),
  'schema.include.list': list(TABLES, 'Include schemas', 'Regular expressions of captured schemas.'),
  'schema.exclude.list': list(TABLES, 'Exclude schemas', 'Regular expressions of schemas that are not captured.'),
  'table.include.list': list(TABLES, 'Include tables', 'Regular expressions of captured tables, as `schema.table`.'),
  'table.exclude.list': list(TABLES, 'Exclude tables', 'Regular expressions of tables that are not captured.'),
  'column.include.list': list(
    TABLES,
    'Include columns',
    'Regular expressions of columns in records, as `schema.table.column`.',
  ),
  'column.exclude.list': list(
    TABLES,
    'Exclude columns',
    'Regular expressions of columns that are left out of records.',
  ),
  'message.key.columns': {
    ...text(
      TABLES,
      'Key columns',
      'Columns of the record key instead of the primary key, such as `public.orders:id,line;public.sites:name`.',
    ),
    validator: MESSAGE_KEYS,
  },
  'snapshot.mode': {
    ...text(
      SNAPSHOT,
      'Snapshot mode',
      'When tables are read: at the first start (initial, initial_only), never (no_data), at each start (always), or also when changes are missing (when_needed).',
    ),
    default: 'initial',
    validator: choice('always', 'initial_only', 'when_needed', 'initial', 'no_data'),
  },
  'snapshot.fetch.size': {
    type: 'INT',
    default: 10_240,
    importance: 'MEDIUM',
    documentation: 'Number of rows per fetch while a table is read.',
    validator: AT_LEAST_ONE,
    group: SNAPSHOT,
    width: 'SHORT',
    displayName: 'Fetch size',
  },
  'snapshot.include.collection.list': list(
    SNAPSHOT,
    'Snapshot tables',
    'Regular expressions of the tables that a snapshot reads. Default: all captured tables.',
  ),
  'signal.data.collection': {
    type: 'LIST',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'Table whose new rows are signals, as `schema.table`. The signal `execute-snapshot` of type `blocking` reads tables again.',
    group: SNAPSHOT,
    width: 'MEDIUM',
    displayName: 'Signal table',
  },
  'snapshot.select.statement.overrides': text(
    SNAPSHOT,
    'Snapshot statements',
    'Tables that a snapshot reads with your own statement, which you set in `snapshot.select.statement.overrides.<schema>.<table>`.',
  ),
  'notification.enabled.channels': {
    type: 'LIST',
    default: null,
    importance: 'MEDIUM',
    documentation: 'Where the progress of a snapshot is reported: sink (a topic).',
    group: SNAPSHOT,
    width: 'SHORT',
    displayName: 'Notification channels',
  },
  'notification.sink.topic.name': text(SNAPSHOT, 'Notification topic', 'Topic of notifications.'),
  ...recordOptions,
});
