import { parseOptions, silentLogger } from '../../src/index.ts';
import { serviceOptions } from '../../plugins/database-http/options.ts';
import { storingRoutes } from '../../plugins/database-http/plugin.ts';
import { DatabaseHttpService } from '../../plugins/database-http/service.ts';
import { database, type TestDatabase } from '../support/services.ts';

/** Runs the database HTTP API in plain HTTP on a port of its own, for a new database or for the given one. */
export async function withDatabaseApi<T>(
  work: (api: { readonly url: URL; readonly access: TestDatabase }) => Promise<T>,
  named?: TestDatabase,
): Promise<T> {
  const access = named ?? (await database('soak'));
  const settings = parseOptions(serviceOptions, {
    listeners: 'http://127.0.0.1:0',
    tls: 'off',
    'connection.url': `postgresql://${access.host}:${String(access.port)}`,
    'default.database': access.database,
    'statement.timeout.ms': '5000',
  });
  const service = new DatabaseHttpService(settings, { logger: silentLogger }, storingRoutes());
  await service.start();
  try {
    return await work({ url: new URL(service.address ?? ''), access });
  } finally {
    await service.stop();
  }
}
