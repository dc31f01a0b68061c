import { declareOptions, oneOfIgnoringCase, type ParsedOptions, type Recommender } from '../../src/index.ts';
import { tableFormatProblem, type InsertMode, type KeyMode, type StructPolicy } from '../database/index.ts';

const GROUP = 'Records with schemas';
const KAFKA_FIELDS = 3;
const INSERT_MODES = ['insert', 'upsert', 'update'] as const;
const KEY_MODES = ['none', 'record_key', 'record_value', 'kafka'] as const;

/** Hides an option while `protocol.type` is another format, because the option then has no effect. */
function forStruct(values: readonly string[] = []): Recommender {
  return { validValues: () => values, visible: (_name, parsed) => parsed.get('protocol.type') === 'struct' };
}

/** Options of `protocol.type=struct`, with the names and semantics of Confluent's JDBC sink. */
export const structOptions = declareOptions({
  'table.name.format': {
    type: 'STRING',
    default: '${topic}',
    importance: 'MEDIUM',
    documentation:
      '`struct`: name of the table, for example `${topic}` or `public.${source.table}`. `${topic}` is the topic, and `${source.FIELD}` is a field of the block `source` in a Debezium event. A dot separates schema and table.',
    group: GROUP,
    width: 'LONG',
    displayName: 'Table name format',
    recommender: forStruct(),
  },
  'insert.mode': {
    type: 'STRING',
    default: 'insert',
    importance: 'HIGH',
    documentation:
      '`struct`: how rows are written. `insert` adds rows and refuses those whose key exists. `upsert` adds a row, or sets the columns of the record if the key exists. `update` sets the columns of the record if the key exists, and otherwise does nothing.',
    validator: oneOfIgnoringCase(...INSERT_MODES),
    group: GROUP,
    width: 'SHORT',
    displayName: 'Insert mode',
    recommender: forStruct(INSERT_MODES),
  },
  'pk.mode': {
    type: 'STRING',
    default: 'none',
    importance: 'HIGH',
    documentation:
      '`struct`: what identifies a row. `none`: rows are not identified. `record_key`: fields of the record key. `record_value`: fields of the record value. `kafka`: the topic, partition and offset of the record.',
    validator: oneOfIgnoringCase(...KEY_MODES),
    group: GROUP,
    width: 'SHORT',
    displayName: 'Primary key mode',
    recommender: forStruct(KEY_MODES),
  },
  'pk.fields': {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation:
      '`struct`: the fields that identify a row, for example `id` or `site,meter`; all fields of the key or value by default. If the record key is a single value, give one name. With `pk.mode=kafka`, give three names or none; without names, the columns are `__connect_topic`, `__connect_partition` and `__connect_offset`.',
    group: GROUP,
    width: 'LONG',
    displayName: 'Primary key fields',
    recommender: forStruct(),
  },
  'delete.enabled': {
    type: 'BOOLEAN',
    default: false,
    importance: 'MEDIUM',
    documentation:
      '`struct`: whether a tombstone (a record with a key and no value) or a deletion event of Debezium deletes the row. Without this option, tombstones and deletion events are skipped. The option needs `pk.mode=record_key`, or, for events of Debezium, `record_value` with `pk.fields`: the old state in the event then identifies the row.',
    group: GROUP,
    width: 'SHORT',
    displayName: 'Enable deletions',
    recommender: forStruct(),
  },
  'truncate.enabled': {
    type: 'BOOLEAN',
    default: false,
    importance: 'LOW',
    documentation:
      '`struct`: whether a truncation event of Debezium truncates the table. Without it, such events are skipped.',
    group: GROUP,
    width: 'SHORT',
    displayName: 'Enable truncations',
    recommender: forStruct(),
  },
  'unavailable.value.placeholder': {
    type: 'STRING',
    default: '__debezium_unavailable_value',
    importance: 'LOW',
    documentation:
      "`struct`: Debezium's placeholder for a large value that was not sent because it did not change; the sink then leaves the column as it is. If this option is empty, no value is a placeholder.",
    group: GROUP,
    width: 'LONG',
    displayName: 'Placeholder of unchanged values',
    recommender: forStruct(),
  },
  'fields.include': {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation:
      '`struct`: the fields of the value that become columns, for example `name,price`; empty for all. Key fields are always columns.',
    group: GROUP,
    width: 'LONG',
    displayName: 'Included fields',
    recommender: forStruct(),
  },
  'fields.exclude': {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation: '`struct`: fields of the value that do not become columns.',
    group: GROUP,
    width: 'LONG',
    displayName: 'Excluded fields',
    recommender: forStruct(),
  },
  'fields.whitelist': {
    type: 'LIST',
    default: [],
    importance: 'LOW',
    documentation: "`struct`: Confluent's name for `fields.include`.",
    group: GROUP,
    width: 'LONG',
    displayName: 'Included fields (Confluent)',
    recommender: forStruct(),
  },
});

export type StructOptions = ParsedOptions<typeof structOptions>;

export function insertModeOf(options: StructOptions): InsertMode {
  return options['insert.mode'].toLowerCase() as InsertMode;
}

export function structPolicyOf(options: StructOptions): StructPolicy {
  return {
    tableNameFormat: options['table.name.format'],
    keyMode: keyModeOf(options),
    keyFields: options['pk.fields'],
    include: [...options['fields.include'], ...options['fields.whitelist']],
    exclude: options['fields.exclude'],
    deletes: options['delete.enabled'],
    truncates: options['truncate.enabled'],
    placeholder: options['unavailable.value.placeholder'],
  };
}

function keyModeOf(options: StructOptions): KeyMode {
  return options['pk.mode'].toLowerCase() as KeyMode;
}

/** Returns invalid combinations, as pairs of option and reason. */
export function structProblems(options: StructOptions): [string, string][] {
  const problems: [string, string][] = [];
  const keyMode = keyModeOf(options);
  const insertMode = insertModeOf(options);
  const format = tableFormatProblem(options['table.name.format']);
  if (format !== undefined) problems.push(['table.name.format', format]);
  if (insertMode !== 'insert' && keyMode === 'none') {
    const reason = `insert.mode=${insertMode} finds rows by their key: set it to record_key, record_value or kafka`;
    problems.push(['pk.mode', reason]);
  }
  const names = options['pk.fields'];
  if (options['delete.enabled'] && keyMode !== 'record_key' && (keyMode !== 'record_value' || names.length === 0)) {
    const reason = `deletions require pk.mode=record_key, or record_value with pk.fields, not ${keyMode}`;
    problems.push(['delete.enabled', reason]);
  }
  if (keyMode === 'kafka' && names.length !== 0 && names.length !== KAFKA_FIELDS) {
    const reason = `pk.mode=kafka requires three names, for topic, partition and offset, or none, not ${String(names.length)}`;
    problems.push(['pk.fields', reason]);
  }
  if (new Set(names).size !== names.length) problems.push(['pk.fields', 'a field is listed twice']);
  if (options['fields.include'].length > 0 && options['fields.whitelist'].length > 0) {
    problems.push(['fields.whitelist', 'it is a synonym of fields.include: set only one of them']);
  }
  return problems;
}
