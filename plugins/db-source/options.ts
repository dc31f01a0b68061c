import { atLeast, declareOptions, nonEmptyString, oneOf } from '../../src/index.ts';
import { connectionOptions } from '../database/index.ts';
import { logOptions } from './log-options.ts';

const TABLES = 'Tables';
const READS = 'Reads';
const OUTPUT = 'Output';

/** The source's options (docs/source-options.md). */
export const sourceOptions = declareOptions({
  ...connectionOptions,
  'topic.prefix': {
    type: 'STRING',
    default: '',
    importance: 'HIGH',
    documentation:
      'First part of topic names, for example `kw`. A topic name consists of prefix, database, table and format, joined by `topic.delimiter`.',
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
    documentation: 'Whether each table has its own topic. `false` leaves the table out of the topic name.',
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
    documentation:
      'Format of the records. `cdc_db` (every change, for a sink with the same format) and `struct` (change events of Debezium) need `read.method=log`.',
    validator: oneOf('json_db', 'json_tsd', 'line_tsd', 'line_lp', 'cdc_db', 'struct'),
    group: OUTPUT,
    width: 'SHORT',
    displayName: 'Output format',
  },
  'timestamp.precision': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'Unit of times in records; more precise digits are cut off. `json_db`: `ms` (default), `us`, `ns`. `json_tsd` and `line_tsd`: `ms` (default), `s`. `line_lp`: `ns` (default), `us`, `ms`. `cdc_db`: `ms`, `us`, `ns`; without this option, times are texts with all digits.',
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
      'Maximum number of rows in a record. The rows of a record belong to one table, have the same record key and come from one fetch. A record of several rows has at most 1,000,000 characters. With 1, `line_tsd` has a record for each line; with more, lines are separated by newlines.',
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
      'Columns whose values are the record key, for example `site,meter`. Without this option, records have no key, except with `struct`, whose records have the key of the table. In text formats, the key is the text of one column, or a JSON array of the texts of several columns. Not allowed with `cdc_db`. With `read.method=query`, a table that lacks one of the columns is not read.',
    group: OUTPUT,
    width: 'MEDIUM',
    displayName: 'Key columns',
  },
  'table.include': {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation:
      'Regular expressions of tables to read, for example `meters,plant\\..*`; empty for all. An expression must match the whole name, which is `table` in the schema `public`, and `schema.table` elsewhere.',
    group: TABLES,
    width: 'LONG',
    displayName: 'Tables to read',
  },
  'table.exclude': {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation:
      'Regular expressions of tables that are not read. An expression must match the whole name, as in `table.include`.',
    group: TABLES,
    width: 'LONG',
    displayName: 'Tables to leave out',
  },
  query: {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'A SELECT whose result is read like a table; tables are then not read. It must not end in a semicolon.',
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
      'How new rows are found. `timestamp`: by a time column. `incrementing`: by an increasing number. `bulk`: every table is read as a whole every `poll.interval.ms`.',
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
      'Time column for `mode=timestamp`. Tables without it are not read. Default: the first column if it is a timestamp, otherwise the first timestamp column.',
    group: READS,
    width: 'MEDIUM',
    displayName: 'Time column',
  },
  'incrementing.column.name': {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation:
      'Number column for `mode=incrementing`. Tables without it are not read. Default: the only column of the key, if it is an integer.',
    group: READS,
    width: 'MEDIUM',
    displayName: 'Incrementing column',
  },
  'timestamp.initial': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'Rows before this time are not read, for example `2026-01-31 08:00:00` (UTC). A zone may follow: `2026-01-31 08:00:00+01:00`, `2026-01-31 08:00:00 Europe/Oslo`. Without this option, all rows are read.',
    group: READS,
    width: 'MEDIUM',
    displayName: 'Initial timestamp',
  },
  'timestamp.delay.ms': {
    type: 'LONG',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'Milliseconds for which the source looks for late rows: set it to the longest time that a writing transaction may take. Default: 10000. With 0, the source never looks for late rows. If a row is committed later than its own time plus this delay, the source may miss it, unless `notify=true` is set. `passedOver` in `GET /connectors/{name}/tasks/{n}/parts` estimates the number of missed rows of a table. For `query` and foreign tables, the source cannot see which transaction wrote a row. For these, the option is the minimum age of a row before it is read, and its default is 0.',
    validator: atLeastOrNone(0),
    group: READS,
    width: 'SHORT',
    displayName: 'Delay (ms)',
  },
  'late.rows': {
    type: 'STRING',
    default: 'emit',
    importance: 'MEDIUM',
    documentation:
      'What happens to late rows, which are committed after rows with later times were sent. `emit` sends them, `count` only counts them.',
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
      'Milliseconds between checks for new, changed and dropped tables, and for new rows in tables that have been read to their end.',
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
      'Maximum number of rows per fetch and per poll. With `fetch.max.rows.auto`, this is only the initial maximum. A fetch never has more than 10,000 rows. If there are more rows, the next fetch from the same database cursor follows at once.',
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
      'Whether fetches grow while there is a backlog. Fetches start with `fetch.max.rows` rows and grow up to 10,000 rows and about 256 kB. With `false`, the maximum stays `fetch.max.rows`.',
    group: READS,
    width: 'SHORT',
    displayName: 'Larger fetches for a backlog',
  },
  'query.interval.ms': {
    type: 'INT',
    default: 1000,
    importance: 'MEDIUM',
    documentation:
      'Initial length of the period whose rows a query reads, in milliseconds (not the pause between queries); 0 for all rows up to the present. Queries follow each other without a pause until the present is reached. Periods without rows are skipped. The period doubles after each query that takes less than half a second, and is halved after one that takes more than five seconds. If no index begins with the time column, and for `query`, each query reads all rows up to the present.',
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
      'Whether triggers notify the source of new rows, so that they are read at once instead of within `poll.interval.ms`. A trigger `sluice_notify` is created on each table, in mode `timestamp` usually also `sluice_notify_update`. In mode `timestamp`, a running source then also reads rows whose time is more than `timestamp.delay.ms` ago when they are inserted.',
    group: READS,
    width: 'SHORT',
    displayName: 'Notify',
  },
  'read.method': {
    type: 'STRING',
    default: 'query',
    importance: 'LOW',
    documentation:
      'How rows are read. `query`: by SELECT. `log`: from the write-ahead log, with every intermediate value of a row, and with deletes if `out.format` is `cdc_db` or `struct`.',
    validator: oneOf('query', 'log'),
    group: READS,
    width: 'SHORT',
    displayName: 'Read method',
  },
  ...logOptions,
});

function oneOfOrNone(...choices: readonly string[]) {
  const given = oneOf(...choices);
  return { ...given, check: (name: string, value: unknown) => (value === null ? undefined : given.check(name, value)) };
}

function atLeastOrNone(min: number) {
  const given = atLeast(min);
  return { ...given, check: (name: string, value: unknown) => (value === null ? undefined : given.check(name, value)) };
}
