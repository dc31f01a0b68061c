import { ConfigError } from '../../src/index.ts';

export interface TopicNaming {
  readonly prefix: string;
  readonly delimiter: string;
  readonly perTable: boolean;
  readonly ignoreDatabase: boolean;
  readonly database: string;
  readonly format: string;
}

const MAX_TOPIC_LENGTH = 249;

/**
 * Prefix, database, table and format joined by the delimiter, empty parts left out (decisions.md, "Source topic name"). What
 * a broker refuses in a name becomes `_`.
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
      `The topic of table ${table} would be ${name}, which is longer than the ${String(MAX_TOPIC_LENGTH)} characters a broker takes; shorten topic.prefix`,
    );
  }
  return name;
}

/** The topic of each table; a ConfigError names two tables that would share one without being told to. */
export function topicNames(naming: TopicNaming, tables: readonly string[]): Map<string, string> {
  const topics = new Map<string, string>();
  const tableOf = new Map<string, string>();
  for (const table of tables) {
    const topic = topicName(naming, table);
    const other = tableOf.get(topic);
    if (other !== undefined && naming.perTable) {
      throw new ConfigError(
        `The tables ${other} and ${table} would both be written to topic ${topic}; rename one, or use another topic.delimiter`,
      );
    }
    tableOf.set(topic, table);
    topics.set(table, topic);
  }
  return topics;
}
