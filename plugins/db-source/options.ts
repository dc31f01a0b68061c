import { atLeast, connectionOptions, declareOptions, nonEmptyString, oneOf } from '../../src/index.ts';

const TABLES = 'Tables';
const READS = 'Reads';
const OUTPUT = 'Output';

/** The source's options (spec/stream-connector.md, "Source configuration parameters"), and those beyond it. */
export const sourceOptions = declareOptions({
  ...connectionOptions,
  'topic.prefix': {
    type: 'STRING',
    default: '',
    importance: 'HIGH',
    documentation:
      'First part of topic names. A topic is named prefix, database, table and format, joined by the delimiter.',
    group: OUTPUT,
    width: 'MEDIUM',
    displayName: 'Topic prefix',
  },
  'topic.delimiter': {
    type: 'STRING',
    default: '-',
    importance: 'LOW',
    documentation: 'What joins the parts of a topic name.',
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
    documentation: 'Leave the database out of the topic name.',
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
      'Most rows of one table in a record. With 1 line_tsd has a record for each of its lines; with more the lines of line formats are separated by newlines.',
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
      'Columns whose values are the key of a record: the text of one column, a JSON array of texts for several. Records have no key without. A table that lacks one of them is not read.',
    group: OUTPUT,
    width: 'MEDIUM',
    displayName: 'Key columns',
  },
  'table.include': {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation:
      'Regular expressions; only tables whose whole name (`table`, or `schema.table` outside of `public`) matches one are read. All when empty.',
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
    documentation:
      'A SELECT that is read in place of tables, as if its result were one. It must not end in a semicolon.',
    validator: nonEmptyString,
    group: TABLES,
    width: 'LONG',
    displayName: 'Query',
  },
  'query.name': {
    type: 'STRING',
    default: 'query',
    importance: 'LOW',
    documentation: 'What the result of `query` is called in topic names and records.',
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
      'Time column of mode `timestamp`; tables without it are not read. Default: the first column where it is a timestamp, else the first timestamp column.',
    group: READS,
    width: 'MEDIUM',
    displayName: 'Time column',
  },
  'incrementing.column.name': {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation:
      'Column of mode `incrementing`; tables without it are not read. Default: the only column of the key, where it is an integer.',
    group: READS,
    width: 'MEDIUM',
    displayName: 'Incrementing column',
  },
  'timestamp.initial': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'Rows before this instant are not read: `yyyy-MM-dd HH:mm:ss`, UTC, or with a zone (`2026-01-31 08:00:00+01:00`, `2026-01-31 08:00:00 Europe/Oslo`). All rows when absent.',
    group: READS,
    width: 'MEDIUM',
    displayName: 'Initial timestamp',
  },
  'timestamp.delay.ms': {
    type: 'LONG',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'How far back rows are looked for again that were committed after later ones had been read: as long as a writing transaction may take. Default 10000; 0 never looks back. Where rows do not tell when they were written (`query`, foreign tables) rows are read when they are this old (default there 0).',
    validator: atLeastOrNone(0),
    group: READS,
    width: 'SHORT',
    displayName: 'Delay (ms)',
  },
  'late.rows': {
    type: 'STRING',
    default: 'emit',
    importance: 'MEDIUM',
    documentation: 'What is done with rows found when looking back: `emit` sends them, `count` only counts them.',
    validator: oneOf('emit', 'count'),
    group: READS,
    width: 'SHORT',
    displayName: 'Late rows',
  },
  'poll.interval.ms': {
    type: 'INT',
    default: 5000,
    importance: 'MEDIUM',
    documentation: 'How often new, changed and dropped tables are looked for, and new rows in tables that had none.',
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
      'Most rows that one poll takes and one fetch from the database has; reading goes on with the same cursor without waiting.',
    validator: atLeast(1),
    group: READS,
    width: 'SHORT',
    displayName: 'Rows per fetch',
  },
  'query.interval.ms': {
    type: 'INT',
    default: 1000,
    importance: 'MEDIUM',
    documentation:
      'Length of time that one query covers at first. Queries follow each other without waiting until now is reached, empty stretches are jumped, and the length doubles while a query takes less than half a second. 0: up to now in one query.',
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
      'Have the database tell of new rows: a trigger `sluice_notify` is created on each table, and rows are read at once instead of within `poll.interval.ms`.',
    group: READS,
    width: 'SHORT',
    displayName: 'Notify',
  },
  'read.method': {
    type: 'STRING',
    default: 'query',
    importance: 'LOW',
    documentation: 'How rows are read; only `query` exists.',
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
