import { ConfigError, javaRegexMatcher, parseOptions, toError, type ConnectorConfig } from '../../src/index.ts';
import {
  connectionSettings,
  encodedFormats,
  type ConnectionSettings,
  type EncodedFormatName,
  type Precision,
} from '../database/index.ts';
import { parseInitialTime } from './initial-time.ts';
import { sourceOptions } from './options.ts';
import type { TopicNaming } from './topic-names.ts';

/** The default look-back interval, longer than most writing transactions take. */
const DEFAULT_DELAY_MS = 10_000;

/** Number of rows per fetch and poll. */
export interface FetchRows {
  readonly first: number;
  readonly max: number;
  readonly grows: boolean;
}

/** Maximum number of rows per fetch, because some steps process a whole fetch in one iteration of the event loop. */
const MAX_FETCH_ROWS = 10_000;

/** The validated settings. Points in time are in microseconds since the epoch. */
export interface SourceSettings {
  readonly connection: ConnectionSettings;
  readonly attempts: number;
  readonly backoffMs: number;
  readonly naming: TopicNaming;
  readonly format: EncodedFormatName;
  readonly precision: Precision;
  readonly rowsPerRecord: number;
  readonly keyColumns: readonly string[];
  readonly isIncluded: (label: string) => boolean;
  readonly query: { readonly sql: string; readonly name: string } | undefined;
  readonly mode: 'timestamp' | 'incrementing' | 'bulk';
  readonly timeColumn: string | undefined;
  readonly incrementingColumn: string | undefined;
  readonly initialMicros: bigint | undefined;
  /** Look-back interval for tables whose rows contain the transaction that wrote them. */
  readonly lookBackMs: number;
  /** In other tables, rows are read when they have reached this age. */
  readonly holdBackMs: number;
  readonly emitsLateRows: boolean;
  readonly pollIntervalMs: number;
  readonly fetchRows: FetchRows;
  /** Initial time range of a query; 0 means that queries extend up to the current time. */
  readonly queryIntervalMs: number;
  readonly notify: boolean;
}

export interface SettingProblem {
  readonly option: string;
  readonly message: string;
}

/** Parses and validates the settings. Throws a ConfigError with the first problem. */
export function sourceSettings(config: ConnectorConfig): SourceSettings {
  const options = parseOptions(sourceOptions, config);
  const [problem] = settingProblems(config);
  if (problem !== undefined) throw new ConfigError(problem.message);
  const connection = connectionSettings(options);
  const format = options['out.format'] as EncodedFormatName;
  const delayMs = options['timestamp.delay.ms'];
  const { initial } = initialTime(options['timestamp.initial']);
  return {
    connection,
    attempts: options['connection.attempts'],
    backoffMs: options['connection.backoff.ms'],
    naming: topicNaming(options, connection.database),
    format,
    precision: (options['timestamp.precision'] as Precision | null) ?? defaultPrecision(format),
    rowsPerRecord: options['out.format.rows.per.record'],
    keyColumns: options['key.columns'],
    isIncluded: tableFilter(options),
    query: options.query === null ? undefined : { sql: options.query, name: options['query.name'] },
    mode: options.mode as SourceSettings['mode'],
    timeColumn: options['timestamp.column.name'] ?? undefined,
    incrementingColumn: options['incrementing.column.name'] ?? undefined,
    initialMicros: initial,
    lookBackMs: Number(delayMs ?? DEFAULT_DELAY_MS),
    holdBackMs: Number(delayMs ?? 0),
    emitsLateRows: options['late.rows'] === 'emit',
    pollIntervalMs: options['poll.interval.ms'],
    fetchRows: fetchRowsOf(options['fetch.max.rows'], options['fetch.max.rows.auto']),
    queryIntervalMs: options['query.interval.ms'],
    notify: options.notify,
  };
}

type Options = ReturnType<typeof parseOptions<typeof sourceOptions>>;

export function topicNaming(options: Options, database: string): TopicNaming {
  return {
    prefix: options['topic.prefix'],
    delimiter: options['topic.delimiter'],
    perTable: options['topic.per.stable'],
    ignoreDatabase: options['topic.ignore.db'],
    database,
    format: options['out.format'],
  };
}

/** Returns a function that returns true if the table with the given label is read. */
export function tableFilter(options: Options): (label: string) => boolean {
  const include = options['table.include'].map(javaRegexMatcher);
  const exclude = options['table.exclude'].map(javaRegexMatcher);
  return (label) =>
    (include.length === 0 || include.some((matches) => matches(label))) && !exclude.some((matches) => matches(label));
}

export function defaultPrecision(format: EncodedFormatName): Precision {
  return encodedFormats[format].precisions[0];
}

/** Returns invalid combinations of options, regular expressions and times. Throws a ConfigError if an option is invalid on its own. */
export function settingProblems(config: ConnectorConfig): SettingProblem[] {
  const options = parseOptions(sourceOptions, config);
  const problems: SettingProblem[] = [];
  const add = (option: string, value: unknown, reason: string) =>
    problems.push({ option, message: `Invalid value ${String(value)} for configuration ${option}: ${reason}` });
  const format = options['out.format'];
  const precision = options['timestamp.precision'];
  const precisions: readonly string[] | undefined = isEncodedFormat(format)
    ? encodedFormats[format].precisions
    : undefined;
  if (precision !== null && precisions?.includes(precision) === false) {
    add('timestamp.precision', precision, `${format} supports ${precisions.join(', ')}`);
  }
  if (precisions === undefined && options['read.method'] !== 'log') {
    add('out.format', format, 'it needs read.method=log');
  }
  for (const option of ['table.include', 'table.exclude'] as const) {
    for (const pattern of options[option]) {
      const reason = regexProblem(pattern);
      if (reason !== undefined) add(option, pattern, reason);
    }
  }
  const { query, mode } = options;
  if (query !== null && /;\s*$/.test(query)) add('query', query, 'it must not end in a semicolon');
  if (query !== null && options['table.include'].length > 0) {
    add('table.include', options['table.include'].join(','), 'with a query no tables are read');
  }
  if (query !== null && mode === 'incrementing' && options['incrementing.column.name'] === null) {
    add('incrementing.column.name', null, 'a query has no key from which the column could be derived');
  }
  const { message } = initialTime(options['timestamp.initial']);
  if (message !== undefined) problems.push({ option: 'timestamp.initial', message });
  return problems;
}

function isEncodedFormat(format: string): format is EncodedFormatName {
  return Object.hasOwn(encodedFormats, format);
}

function fetchRowsOf(rows: number, grows: boolean): FetchRows {
  const first = Math.min(rows, MAX_FETCH_ROWS);
  return { first, max: grows ? MAX_FETCH_ROWS : first, grows };
}

function initialTime(text: string | null): { initial?: bigint; message?: string } {
  if (text === null) return {};
  try {
    return { initial: BigInt(parseInitialTime(text, Date.now())) };
  } catch (error) {
    return { message: toError(error).message };
  }
}

function regexProblem(pattern: string): string | undefined {
  try {
    javaRegexMatcher(pattern);
    return undefined;
  } catch (error) {
    return `it is not a regular expression: ${toError(error).message}`;
  }
}
