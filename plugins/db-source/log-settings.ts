import { ConfigError, parseOptions, type ConnectorConfig } from '../../src/index.ts';
import { connectionSettings, decodedChangeFormats, type EncodedFormatName, type Precision } from '../database/index.ts';
import type { LogDoor, RecordForm } from '../log-source/record-form.ts';
import { logSettings, type LogOptionNames, type LogSettings } from '../log-source/settings.ts';
import { sourceOptions } from './options.ts';
import { defaultPrecision, settingProblems, tableFilter, topicNaming, type SettingProblem } from './source-settings.ts';
import { tableLabel } from './tables.ts';
import { topicName } from './topic-names.ts';
import { ChangeForm } from './log-changes.ts';
import { logOptions } from './log-options.ts';
import { RowForm } from './log-rows.ts';

type Options = ReturnType<typeof parseOptions<typeof sourceOptions>>;

/** Options for queries, which are invalid with `read.method=log`. */
const QUERY_OPTIONS = [
  'fetch.max.rows',
  'fetch.max.rows.auto',
  'incrementing.column.name',
  'late.rows',
  'mode',
  'notify',
  'out.format.rows.per.record',
  'poll.interval.ms',
  'query',
  'query.interval.ms',
  'query.name',
  'timestamp.column.name',
  'timestamp.delay.ms',
  'timestamp.initial',
] as const satisfies readonly (keyof Options)[];

/** PostgreSQL's rule for names of slots. */
const SLOT_NAME = /^[a-z0-9_]{1,63}$/;

export function readsLog(config: ConnectorConfig): boolean {
  return config['read.method'] === 'log';
}

/** Problems with the options if `read.method=log`. With another method, reports options that have a meaning only for the log. */
export function logProblems(config: ConnectorConfig): readonly SettingProblem[] {
  const options = parseOptions(sourceOptions, config);
  const { 'out.format': format, 'log.ddl': ddl, 'log.slot.name': slot } = options;
  const problems: SettingProblem[] = [];
  const add = (option: keyof Options, reason: string): void => {
    const message = `Invalid value ${String(options[option])} for configuration ${option}: ${reason}`;
    problems.push({ option, message });
  };
  if (!readsLog(config)) {
    for (const option of Object.keys(logOptions) as (keyof typeof logOptions)[]) {
      if (isSet(options, option)) add(option, 'it has a meaning with read.method=log only');
    }
    return problems;
  }
  for (const option of QUERY_OPTIONS) {
    if (isSet(options, option)) add(option, 'it has no meaning with read.method=log, which runs no queries');
  }
  if (slot !== null && !SLOT_NAME.test(slot)) {
    add('log.slot.name', 'a slot has at most 63 lower-case letters, digits and underscores');
  }
  if (format === 'struct' && isSet(options, 'timestamp.precision')) {
    add('timestamp.precision', 'the type of a column gives the precision in structs');
  }
  if (format === 'cdc_db' && options['timestamp.precision'] === 's') {
    add('timestamp.precision', `cdc_db supports ${decodedChangeFormats.cdc_db.precisions.join(', ')}`);
  }
  if (format === 'cdc_db' && isSet(options, 'key.columns')) {
    add('key.columns', 'records of cdc_db have no key, because they are executed in their order');
  }
  if (ddl && format !== 'cdc_db') add('log.ddl', 'only out.format=cdc_db has statements');
  if (ddl && options['topic.per.stable']) {
    add('topic.per.stable', 'log.ddl needs one topic, so that statements and rows stay in their order');
  }
  return problems;
}

function isSet(options: Options, option: keyof Options): boolean {
  const { default: byDefault } = sourceOptions[option] as { readonly default?: unknown };
  return JSON.stringify(options[option] ?? null, text) !== JSON.stringify(byDefault ?? null, text);
}

function text(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

const NAMES: LogOptionNames = {
  server: 'connection.url',
  address: 'connection.url',
  user: 'connection.user',
  slot: 'log.slot.name',
  publication: 'log.publication.name',
  autocreate: 'log.publication.name',
  tables: 'table.include',
  snapshotMode: 'log.snapshot.mode',
};

/** The settings of the log source for this configuration. @throws ConfigError with the first problem */
export function dbLogSettings(config: ConnectorConfig): LogSettings {
  const [problem] = [...settingProblems(config), ...logProblems(config)];
  if (problem !== undefined) throw new ConfigError(problem.message);
  const options = parseOptions(sourceOptions, config);
  const connection = connectionSettings(options);
  const naming = topicNaming(options, connection.database);
  const isIncluded = tableFilter(options);
  const slot = options['log.slot.name'] ?? `sluice_${(config['name'] ?? '').toLowerCase().replace(/[^a-z0-9_]/g, '_')}`;
  const isStruct = options['out.format'] === 'struct';
  const keyColumns = options['key.columns'];
  const labelOf = ({ schema, name }: { readonly schema: string; readonly name: string }): string =>
    tableLabel({ name: { schema, name } });
  const same = logSettings({
    'plugin.name': 'pgoutput',
    'database.hostname': connection.servers[0]?.host ?? '',
    'database.user': connection.user,
    'database.dbname': connection.database,
    'topic.prefix': (naming.prefix === '' ? connection.database : naming.prefix).replace(/[^\w.-]/g, '_'),
    'slot.name': slot.slice(0, 63),
    'publication.name': options['log.publication.name'] ?? slot.slice(0, 63),
    'publication.autocreate.mode': options['log.ddl'] ? 'all_tables' : 'filtered',
    'publish.via.partition.root': 'true',
    'snapshot.mode': options['log.snapshot.mode'],
    'skipped.operations': 'none',
    'log.max.lag.bytes': String(options['log.max.lag.bytes']),
    'log.max.lag.action': options['log.max.lag.action'],
  });
  return {
    ...same,
    names: NAMES,
    hasDdl: options['log.ddl'],
    connection,
    attempts: { attempts: options['connection.attempts'], backoffMs: options['connection.backoff.ms'] },
    includesTable: (table) => same.includesTable(table) && isIncluded(labelOf(table)),
    topicOf: (table) => ({ topic: topicName(naming, labelOf(table)) }),
    keyColumnsOf: () => (isStruct && keyColumns.length > 0 ? keyColumns : undefined),
  };
}

/** `com.db.kafka.connect.source.DbSourceConnector` with `read.method=log`. */
export const DB_LOG: LogDoor = {
  settings: dbLogSettings,
  form: (settings, { config, logger }): RecordForm | undefined => {
    const options = parseOptions(sourceOptions, config);
    const format = options['out.format'];
    const precision = (options['timestamp.precision'] as Precision | null) ?? undefined;
    if (format === 'struct') return undefined;
    if (format === 'cdc_db') return new ChangeForm({ settings, precision, logger });
    const rows = format as EncodedFormatName;
    const writer = {
      format: rows,
      precision: precision ?? defaultPrecision(rows),
      rowsPerRecord: 1,
      keyColumns: options['key.columns'],
    };
    const skipsUnsupported = config['errors.tolerance'] === 'all';
    return new RowForm({ settings, writer, skipsUnsupported, logger });
  },
};
