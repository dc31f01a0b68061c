import { atLeast, declareOptions, nonEmptyString, oneOf } from '../../src/index.ts';
import { connectionOptions } from '../database/index.ts';

const TABLES = 'Tables';
const READS = 'Reads';
const OUTPUT = 'Output';

/** The source's options (docs/source.md#options). */
export const sourceOptions = declareOptions({
  ...connectionOptions,
  'topic.prefix': {
    type: 'STRING',
    default: '',
    importance: 'HIGH',
    documentation:
      'First part of topic names. The name of a topic is prefix, database, table and format, joined by the delimiter.',
    group: OUTPUT,
    width: 'MEDIUM',
    displayName: 'Topic prefix',
  },
  'topic.delimiter': {
    type: 'STRING',
    default: '-',
    importance: 'LOW',
    documentation: 'Separator between the parts of a topic name.',
    group: OUTPUT,
    width: 'SHORT',
    displayName: 'Topic delimiter',
  },
  'topic.per.stable': {
    type: 'BOOLEAN',
    default: true,
    importance: 'MEDIUM',
    documentation: 'One topic per table; `false` leaves the table out of the topic name.',
    group: OUTPUT,
    width: 'SHORT',
    displayName: 'Topic per table',
  },
  'topic.ignore.db': {
    type: 'BOOLEAN',
    default: false,
    importance: 'LOW',
    documentation: 'Whether the database is left out of the topic name.',
    group: OUTPUT,
    width: 'SHORT',
    displayName: 'Topic without database',
  },
  'out.format': {
    type: 'STRING',
    importance: 'HIGH',
    documentation: 'Format of the records.',
    validator: oneOf('json_db', 'json_tsd', 'line_tsd', 'line_lp'),
    group: OUTPUT,
    width: 'SHORT',
    displayName: 'Output format',
  },
  'timestamp.precision': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'Unit of times in records; finer digits are floored. json_db: `ms` (default), `us`, `ns`; json_tsd and line_tsd: `ms` (default), `s`; line_lp: `ns` (default), `us`, `ms`.',
    validator: oneOfOrNone('s', 'ms', 'us', 'ns'),
    group: OUTPUT,
    width: 'SHORT',
    displayName: 'Timestamp precision',
  },
  'out.format.rows.per.record': {
    type: 'INT',
    default: 1,
    importance: 'LOW',
    documentation:
      'Maximum number of rows of one table in a record. With 1, line_tsd has a record for each of its lines; with more, the lines of line formats are separated by newlines. A record of several rows has rows of one key, of one fetch, and at most 1,000,000 characters.',
    validator: atLeast(1),
    group: OUTPUT,
    width: 'SHORT',
    displayName: 'Rows per record',
  },
  'key.columns': {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation:
      'Columns whose values are the key of a record: the text of one column, a JSON array of texts for several. Without this option records have no key. A table that lacks one of these columns is not read.',
    group: OUTPUT,
    width: 'MEDIUM',
    displayName: 'Key columns',
  },
  'table.include': {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation:
      'Regular expressions; only tables whose whole name (`table`, or `schema.table` outside of `public`) matches one are read; all if empty.',
    group: TABLES,
    width: 'LONG',
    displayName: 'Tables to read',
  },
  'table.exclude': {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation: 'Regular expressions; tables whose whole name matches one are not read.',
    group: TABLES,
    width: 'LONG',
    displayName: 'Tables to leave out',
  },
  query: {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation: 'A SELECT whose result is read like a table, instead of tables. It must not end in a semicolon.',
    validator: nonEmptyString,
    group: TABLES,
    width: 'LONG',
    displayName: 'Query',
  },
  'query.name': {
    type: 'STRING',
    default: 'query',
    importance: 'LOW',
    documentation: 'Name of the result of `query` in topic names and records.',
    validator: nonEmptyString,
    group: TABLES,
    width: 'MEDIUM',
    displayName: 'Name of the query',
  },
  mode: {
    type: 'STRING',
    default: 'timestamp',
    importance: 'MEDIUM',
    documentation:
      '`timestamp`: new rows by a time column. `incrementing`: new rows by a number that grows. `bulk`: all rows of every table, every `poll.interval.ms`.',
    validator: oneOf('timestamp', 'incrementing', 'bulk'),
    group: READS,
    width: 'SHORT',
    displayName: 'Mode',
  },
  'timestamp.column.name': {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation:
      'Time column of mode `timestamp`; tables without it are not read. Default: the first column if it is a timestamp, otherwise the first timestamp column.',
    group: READS,
    width: 'MEDIUM',
    displayName: 'Time column',
  },
  'incrementing.column.name': {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation:
      'Column of mode `incrementing`; tables without it are not read. Default: the only column of the key, if it is an integer.',
    group: READS,
    width: 'MEDIUM',
    displayName: 'Incrementing column',
  },
  'timestamp.initial': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'Rows before this instant are not read: `yyyy-MM-dd HH:mm:ss`, UTC, or with a zone (`2026-01-31 08:00:00+01:00`, `2026-01-31 08:00:00 Europe/Oslo`). Without it all rows are read.',
    group: READS,
    width: 'MEDIUM',
    displayName: 'Initial timestamp',
  },
  'timestamp.delay.ms': {
    type: 'LONG',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'How far back the source looks for rows that were committed after later rows had been read: set it to the longest time that a writing transaction may take. Default 10000; with 0 the source never looks back. A row whose time is further back when it is inserted is not read without `notify=true`; `passedOver` among the counts of a table estimates the number of such rows. If rows do not show which transaction wrote them (`query`, foreign tables), rows are read when they are this old (default there 0).',
    validator: atLeastOrNone(0),
    group: READS,
    width: 'SHORT',
    displayName: 'Delay (ms)',
  },
  'late.rows': {
    type: 'STRING',
    default: 'emit',
    importance: 'MEDIUM',
    documentation: 'What happens to rows that are found by looking back: `emit` sends them, `count` only counts them.',
    validator: oneOf('emit', 'count'),
    group: READS,
    width: 'SHORT',
    displayName: 'Late rows',
  },
  'poll.interval.ms': {
    type: 'INT',
    default: 5000,
    importance: 'MEDIUM',
    documentation:
      'How often the source looks for new, changed and dropped tables, and for new rows in tables that had none.',
    validator: atLeast(1),
    group: READS,
    width: 'SHORT',
    displayName: 'Poll interval (ms)',
  },
  'fetch.max.rows': {
    type: 'INT',
    default: 100,
    importance: 'MEDIUM',
    documentation:
      'Maximum number of rows that one poll returns and one fetch from the database has; with `fetch.max.rows.auto` fetches and polls grow beyond it. A fetch never has more than 10,000 rows. Reading continues with the same cursor without waiting.',
    validator: atLeast(1),
    group: READS,
    width: 'SHORT',
    displayName: 'Rows per fetch',
  },
  'fetch.max.rows.auto': {
    type: 'BOOLEAN',
    default: true,
    importance: 'MEDIUM',
    documentation:
      'Whether fetches adapt to a backlog: they begin with `fetch.max.rows` rows and grow while more are there, up to 10,000 rows and about 256 kB. With `false` no fetch and no poll has more than `fetch.max.rows` rows.',
    group: READS,
    width: 'SHORT',
    displayName: 'Larger fetches for a backlog',
  },
  'query.interval.ms': {
    type: 'INT',
    default: 1000,
    importance: 'MEDIUM',
    documentation:
      'Length of time that one query covers at first. Queries follow each other without waiting until the present is reached; empty stretches are skipped, and the length doubles while a query takes less than half a second. 0: one query up to the present.',
    validator: atLeast(0),
    group: READS,
    width: 'SHORT',
    displayName: 'Query interval (ms)',
  },
  notify: {
    type: 'BOOLEAN',
    default: false,
    importance: 'LOW',
    documentation:
      'Whether the database notifies the source of new rows: triggers `sluice_notify` and `sluice_notify_update` are created on each table, and rows are read at once instead of within `poll.interval.ms`. In mode `timestamp`, rows that are inserted further back than `timestamp.delay.ms` while the source runs are read too.',
    group: READS,
    width: 'SHORT',
    displayName: 'Notify',
  },
  'read.method': {
    type: 'STRING',
    default: 'query',
    importance: 'LOW',
    documentation: 'How rows are read. `query` is the only method.',
    validator: oneOf('query'),
    group: READS,
    width: 'SHORT',
    displayName: 'Read method',
  },
});

function oneOfOrNone(...choices: readonly string[]) {
  const given = oneOf(...choices);
  return { ...given, check: (name: string, value: unknown) => (value === null ? undefined : given.check(name, value)) };
}

function atLeastOrNone(min: number) {
  const given = atLeast(min);
  return { ...given, check: (name: string, value: unknown) => (value === null ? undefined : given.check(name, value)) };
}
