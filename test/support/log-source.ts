import { LocalPostgres } from '../../src/dev/postgres.ts';
import { onServer, uniqueName, type TestDatabase } from './services.ts';

/** Starts a PostgreSQL for one test, with logical decoding and a database. The test must discard it. */
export async function logicalPostgres(): Promise<{ readonly server: LocalPostgres; readonly db: TestDatabase }> {
  const settings = { wal_level: 'logical', max_replication_slots: '20', max_wal_senders: '20' };
  const server = await LocalPostgres.start({ settings });
  return { server, db: onServer(server, 'postgres') };
}

/** Returns a configuration of Debezium's connector for a database. Topics are named `<prefix>.<schema>.<table>`. */
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
