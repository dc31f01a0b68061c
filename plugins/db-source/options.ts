import { atLeast, connectionOptions, declareOptions, oneOf } from '../../src/index.ts';

const READS = 'Reads';
const OUTPUT = 'Output';

/** The source's options (spec/stream-connector.md, "Source configuration parameters"). */
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
    documentation: 'Format of the records. This version writes `json_db` and `line_lp`.',
    validator: oneOf('json_db', 'json_tsd', 'line_tsd', 'line_lp'),
    group: OUTPUT,
    width: 'SHORT',
    displayName: 'Output format',
  },
  'timestamp.initial': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'Rows before this instant are not read: `yyyy-MM-dd HH:mm:ss`, UTC, or with a zone (`2026-01-31 08:00:00+01:00`). All rows when absent.',
    group: READS,
    width: 'MEDIUM',
    displayName: 'Initial timestamp',
  },
  'poll.interval.ms': {
    type: 'INT',
    default: 5000,
    importance: 'MEDIUM',
    documentation:
      'How often new and dropped tables are looked for, and how long a table without new rows is left alone.',
    validator: atLeast(1),
    group: READS,
    width: 'SHORT',
    displayName: 'Poll interval (ms)',
  },
  'fetch.max.rows': {
    type: 'INT',
    default: 100,
    importance: 'MEDIUM',
    documentation: 'Most rows that one poll takes; reading goes on with the next poll without waiting.',
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
      'Length of time that one query covers. Queries follow each other without waiting until now is reached, and empty stretches are jumped. 0: up to now in one query.',
    validator: atLeast(0),
    group: READS,
    width: 'SHORT',
    displayName: 'Query interval (ms)',
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
