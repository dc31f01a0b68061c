import { ConfigError, toError } from '../../src/index.ts';

export interface TopicNaming {
  readonly prefix: string;
  readonly delimiter: string;
  readonly perTable: boolean;
  readonly ignoreDatabase: boolean;
  readonly database: string;
  readonly format: string;
}

/** Returns a hint if connectors with different prefixes may write to the same topics. */
export function prefixHint({ prefix, delimiter }: TopicNaming): string | undefined {
  if (!/[^a-zA-Z0-9._-]/.test(prefix + delimiter)) return undefined;
  return 'characters of topic.prefix and topic.delimiter other than letters, digits, ".", "_" and "-" become "_" in names of topics; a connector whose prefix differs only in such characters writes to the same topics';
}

const MAX_TOPIC_LENGTH = 249;

/**
 * Joins prefix, database, table and format with the delimiter; empty parts are omitted. Characters that brokers reject become
 * `_`. Throws a ConfigError if the name is too long.
 * @internal
 */
export function topicName(naming: TopicNaming, table: string): string {
  const parts = [
    naming.prefix,
    naming.ignoreDatabase ? '' : naming.database,
    naming.perTable ? table : '',
    naming.format,
  ];
  const name = parts
    .filter((part) => part !== '')
    .join(naming.delimiter)
    .replace(/[^a-zA-Z0-9._-]/g, '_');
  if (name.length > MAX_TOPIC_LENGTH) {
    throw new ConfigError(
      `The topic of table ${table} would be ${name}, which is longer than the ${String(MAX_TOPIC_LENGTH)} characters that a broker accepts; shorten topic.prefix`,
    );
  }
  return name;
}

/** Topics by table, and the reasons for tables without one. */
export interface TopicNames {
  readonly topics: ReadonlyMap<string, string>;
  readonly refused: ReadonlyMap<string, string>;
}

/**
 * Determines the topic of each table. Tables that would share a topic by accident get no topic, because it would be arbitrary to
 * choose one of them. Tables whose topic name a broker would reject get no topic either.
 */
export function topicNames(naming: TopicNaming, tables: readonly string[]): TopicNames {
  const tablesOf = new Map<string, string[]>();
  const refused = new Map<string, string>();
  for (const table of tables) {
    try {
      const topic = topicName(naming, table);
      const sharing = tablesOf.get(topic);
      if (sharing === undefined) tablesOf.set(topic, [table]);
      else sharing.push(table);
    } catch (error) {
      refused.set(table, toError(error).message);
    }
  }
  const topics = new Map<string, string>();
  for (const [topic, sharing] of tablesOf) {
    for (const table of sharing) {
      if (sharing.length === 1 || !naming.perTable) topics.set(table, topic);
      else refused.set(table, collision(topic, sharing));
    }
  }
  return { topics, refused };
}

const MAX_NAMED = 5;

function collision(topic: string, tables: readonly string[]): string {
  const others = tables.length > MAX_NAMED ? ` and ${String(tables.length - MAX_NAMED)} others` : '';
  const names = `${tables.slice(0, MAX_NAMED).join(', ')}${others}`;
  return `the tables ${names} would all be written to topic ${topic}; rename all but one, exclude them with table.exclude, or use another topic.delimiter`;
}
