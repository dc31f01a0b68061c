import { LocalPostgres } from '../../src/dev/postgres.ts';
import { onServer, uniqueName, type TestDatabase } from './services.ts';

/** A PostgreSQL of one's own whose log can be decoded, with a database. To be discarded by the test. */
export async function logicalPostgres(): Promise<{ readonly server: LocalPostgres; readonly db: TestDatabase }> {
  const settings = { wal_level: 'logical', max_replication_slots: '20', max_wal_senders: '20' };
  const server = await LocalPostgres.start({ settings });
  return { server, db: onServer(server, 'postgres') };
}

/** A configuration of Debezium's connector for a database; topics are `<prefix>.<schema>.<table>`. */
export function logSourceConfig(
  { host, port, user, password, database }: TestDatabase,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const prefix = uniqueName('log');
  return {
    'connector.class': 'io.debezium.connector.postgresql.PostgresConnector',
    'tasks.max': '1',
    'topic.prefix': prefix,
    'database.hostname': host,
    'database.port': String(port),
    'database.user': user,
    'database.password': password,
    'database.dbname': database,
    'plugin.name': 'pgoutput',
    'slot.name': prefix.replaceAll('-', '_'),
    'publication.name': prefix.replaceAll('-', '_'),
    'poll.interval.ms': '50',
    'key.converter': 'org.apache.kafka.connect.json.JsonConverter',
    'key.converter.schemas.enable': 'false',
    'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
    'value.converter.schemas.enable': 'false',
    ...more,
  };
}
