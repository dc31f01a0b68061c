import type { TestDatabase } from './services.ts';

const STRINGS = {
  'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
  'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
};

/** Options of a sink for this database. `more` overrides them. */
export function sinkConfig(
  { host, port, user, password, database }: TestDatabase,
  more: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    ...STRINGS,
    'connector.class': 'com.db.kafka.connect.sink.DbSinkConnector',
    'connection.url': `jdbc:db://${host}:${String(port)}/${database}`,
    'connection.user': user,
    'connection.password': password,
    ...more,
  };
}

/** Options of a source for this database, with one partition per topic. `more` overrides them. */
export function sourceConfig(
  { host, port, user, password, database }: TestDatabase,
  more: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    ...STRINGS,
    'connector.class': 'com.db.kafka.connect.source.DbSourceConnector',
    'connection.url': `jdbc:db://${host}:${String(port)}/${database}`,
    'connection.user': user,
    'connection.password': password,
    'out.format': 'json_db',
    'poll.interval.ms': '200',
    'topic.creation.default.partitions': '1',
    'topic.creation.default.replication.factor': '1',
    ...more,
  };
}

/** Options of a sink that continues after failed records and writes them to a dead-letter topic. */
export function keepingLetters(topic: string): Record<string, string> {
  return {
    'errors.tolerance': 'all',
    'errors.deadletterqueue.topic.name': topic,
    'errors.deadletterqueue.topic.replication.factor': '1',
    'errors.deadletterqueue.context.headers.enable': 'true',
  };
}
