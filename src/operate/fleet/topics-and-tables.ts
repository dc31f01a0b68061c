import type { FleetRow } from './fleet-answers.ts';

const MAX_LENGTH = 200;
const TOPIC = '${topic}';

/**
 * The topics and tables of a connector, for lists. For a sink, the topics are those of its configuration; for a source, those that
 * it has written.
 */
export function topicsAndTables(
  type: FleetRow['type'],
  config: Readonly<Record<string, string>>,
  writtenTopics: readonly string[],
): Pick<FleetRow, 'topics' | 'tables'> {
  const isSink = type === 'sink';
  const topics = isSink ? (config['topics'] ?? config['topics.regex'] ?? '') : [...writtenTopics].sort().join(', ');
  const tables = isSink ? sinkTable(config) : sourceTables(config);
  return { topics: topics.slice(0, MAX_LENGTH), tables: tables.slice(0, MAX_LENGTH) };
}

/**
 * The table of a sink; empty if the configuration does not determine it. With formats other than `struct`, each message
 * names its table.
 */
function sinkTable(config: Readonly<Record<string, string>>): string {
  const { 'protocol.type': protocol, topics = '', transforms = '' } = config;
  if (protocol !== undefined && protocol !== 'struct') return '';
  const format = config['table.name.format'] ?? (protocol === undefined ? '' : TOPIC);
  // Transforms may change the topic of a record.
  const isTopicKnown = topics !== '' && !topics.includes(',') && transforms === '';
  const table = isTopicKnown ? format.replaceAll(TOPIC, topics.trim()) : format;
  return table.includes('${') ? '' : table;
}

/** The tables that a source reads, as regular expressions, or the name of its query; empty: all tables, or unknown. */
function sourceTables(config: Readonly<Record<string, string>>): string {
  return config['query.name'] ?? config['table.include'] ?? config['table.include.list'] ?? '';
}
