import { declareOptions } from '../../src/index.ts';
import { list, text } from './option-declarations.ts';
import { AT_LEAST_ONE, AT_LEAST_ZERO, TOPIC_PREFIX, choice, exactly } from './option-validators.ts';

const RECORDS = 'Records';

/** Options for the form of records, and for the number of changes that are read at a time. */
export const recordOptions = declareOptions({
  'topic.prefix': {
    ...text(RECORDS, 'Topic prefix', 'First part of topic names, and the name of this source in records and offsets.'),
    importance: 'HIGH',
    validator: TOPIC_PREFIX,
  },
  'skipped.operations': {
    type: 'LIST',
    default: ['t'],
    importance: 'LOW',
    documentation:
      'Operations without records: c (insert), u (update), d (delete), t (truncate); the value none sends all.',
    group: RECORDS,
    width: 'SHORT',
    displayName: 'Skipped operations',
  },
  'decimal.handling.mode': {
    ...text(RECORDS, 'Decimals', 'How numeric and money are written: precise (Decimal), double or string.'),
    default: 'precise',
    validator: choice('precise', 'double', 'string'),
  },
  'money.fraction.digits': {
    type: 'INT',
    default: 2,
    importance: 'LOW',
    documentation: 'Number of decimal places of money.',
    validator: AT_LEAST_ZERO,
    group: RECORDS,
    width: 'SHORT',
    displayName: 'Money digits',
  },
  'time.precision.mode': {
    ...text(
      RECORDS,
      'Times',
      'How dates and times are written: adaptive (in the precision of the column), adaptive_time_microseconds, connect, isostring, microseconds or nanoseconds.',
    ),
    default: 'adaptive',
    validator: choice('adaptive', 'adaptive_time_microseconds', 'connect', 'isostring', 'microseconds', 'nanoseconds'),
  },
  'binary.handling.mode': {
    ...text(RECORDS, 'Binary values', 'How bytea is written: bytes, base64, base64-url-safe or hex.'),
    default: 'bytes',
    validator: choice('bytes', 'base64', 'base64-url-safe', 'hex'),
  },
  'hstore.handling.mode': {
    ...text(RECORDS, 'hstore values', 'How hstore is written: json (a text) or map.'),
    default: 'json',
    validator: choice('json', 'map'),
  },
  'interval.handling.mode': {
    ...text(RECORDS, 'Intervals', 'How intervals are written: numeric (microseconds) or string (ISO 8601).'),
    default: 'numeric',
    validator: choice('numeric', 'string'),
  },
  'include.unknown.datatypes': {
    type: 'BOOLEAN',
    default: false,
    importance: 'MEDIUM',
    documentation: 'Whether columns of unsupported types are written, as the bytes of their text.',
    group: RECORDS,
    width: 'SHORT',
    displayName: 'Unknown types',
  },
  'unavailable.value.placeholder': {
    ...text(
      RECORDS,
      'Placeholder',
      'Value that replaces a large value which an update did not change, because the server does not send it.',
    ),
    default: '__debezium_unavailable_value',
  },
  'tombstones.on.delete': {
    type: 'BOOLEAN',
    default: true,
    importance: 'MEDIUM',
    documentation: 'Whether a delete is followed by a record without a value, so that compaction removes the key.',
    group: RECORDS,
    width: 'SHORT',
    displayName: 'Tombstones',
  },
  'schema.name.adjustment.mode': {
    ...text(RECORDS, 'Schema names', 'How names of schemas are adjusted to a converter: none, avro or avro_unicode.'),
    default: 'none',
    validator: choice('none', 'avro', 'avro_unicode'),
  },
  'field.name.adjustment.mode': {
    ...text(RECORDS, 'Field names', 'How names of fields are adjusted to a converter: none, avro or avro_unicode.'),
    default: 'none',
    validator: choice('none', 'avro', 'avro_unicode'),
  },
  'extended.headers.enabled': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation: 'Whether records have the headers `__debezium.context.…`.',
    group: RECORDS,
    width: 'SHORT',
    displayName: 'Context headers',
  },
  'heartbeat.interval.ms': {
    type: 'INT',
    default: 0,
    importance: 'MEDIUM',
    documentation:
      'Milliseconds between heartbeat records, whose offsets store the position even if no captured table changes; 0 for none.',
    validator: AT_LEAST_ZERO,
    group: RECORDS,
    width: 'SHORT',
    displayName: 'Heartbeat interval (ms)',
  },
  'heartbeat.topics.prefix': {
    ...text(RECORDS, 'Heartbeat topic prefix', 'First part of the name of the heartbeat topic.'),
    default: '__debezium-heartbeat',
  },
  'heartbeat.action.query': text(RECORDS, 'Heartbeat statement', 'SQL statement that runs with each heartbeat.'),
  'provide.transaction.metadata': {
    type: 'BOOLEAN',
    default: false,
    importance: 'LOW',
    documentation:
      'Whether records contain their transaction and their position in it, and a topic gets a record at the begin and end of each transaction.',
    group: RECORDS,
    width: 'SHORT',
    displayName: 'Transaction metadata',
  },
  'message.prefix.include.list': list(
    RECORDS,
    'Include messages',
    'Regular expressions of prefixes; logical messages with these prefixes become records.',
  ),
  'message.prefix.exclude.list': list(
    RECORDS,
    'Exclude messages',
    'Regular expressions of prefixes; logical messages with these prefixes do not become records.',
  ),
  'topic.naming.strategy': {
    ...text(
      RECORDS,
      'Topic names',
      'Class that names topics by schema and table, or (`io.debezium.schema.SchemaRegexTopicNamingStrategy`) by topic.regex and topic.replacement.',
    ),
    default: 'io.debezium.schema.SchemaTopicNamingStrategy',
    validator: exactly(
      'io.debezium.schema.SchemaTopicNamingStrategy',
      'io.debezium.schema.SchemaRegexTopicNamingStrategy',
    ),
  },
  'topic.regex': text(RECORDS, 'Topic pattern', 'Regular expression of the names of topics that are renamed.'),
  'topic.replacement': text(
    RECORDS,
    'Topic replacement',
    'New name of topics that match topic.regex; `$1` is the first group of the match.',
  ),
  'topic.key.enforce.uniqueness': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation: 'Whether keys contain the original name of the topic if topics are renamed.',
    group: RECORDS,
    width: 'SHORT',
    displayName: 'Unique keys',
  },
  'column.propagate.source.type': list(
    RECORDS,
    'Columns with source types',
    'Regular expressions of columns whose declared type is added to their schemas.',
  ),
  'datatype.propagate.source.type': list(
    RECORDS,
    'Types with source types',
    'Regular expressions of types, as `schema.table.type`; the declared type is added to the schemas of their columns.',
  ),
  'max.batch.size': {
    type: 'INT',
    default: 2048,
    importance: 'MEDIUM',
    documentation: 'Maximum number of changes per poll.',
    validator: AT_LEAST_ONE,
    group: RECORDS,
    width: 'SHORT',
    displayName: 'Batch size',
  },
  'max.queue.size': {
    type: 'INT',
    default: 8192,
    importance: 'MEDIUM',
    documentation: 'Maximum number of changes that are read from the log before a poll takes them.',
    validator: AT_LEAST_ONE,
    group: RECORDS,
    width: 'SHORT',
    displayName: 'Queue size',
  },
  'max.queue.size.in.bytes': {
    type: 'LONG',
    default: 0,
    importance: 'MEDIUM',
    documentation: 'Maximum number of bytes that are read from the log before a poll takes them; 0 for 16 MiB.',
    validator: AT_LEAST_ZERO,
    group: RECORDS,
    width: 'SHORT',
    displayName: 'Queue size (bytes)',
  },
  'poll.interval.ms': {
    type: 'LONG',
    default: 500,
    importance: 'MEDIUM',
    documentation: 'Maximum number of milliseconds that a poll waits for changes (at most 1,000).',
    validator: AT_LEAST_ONE,
    group: RECORDS,
    width: 'SHORT',
    displayName: 'Poll interval (ms)',
  },
});
