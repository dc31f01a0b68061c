import { freePort } from '../../src/dev/ports.ts';
import type { BenchContext } from './bench-context.ts';
import type { BenchServices } from './bench-services.ts';
import type { WorkerUnderTest } from './worker-under-test.ts';

export interface ApiUnderTest {
  readonly worker: WorkerUnderTest;
  /** Port for plain HTTP. */
  readonly port: number;
  readonly token: string;
}

/** Starts a worker with the database HTTP API for the database of the benchmark. Resolves with a token for it, too. */
export async function startApi(
  { services, startWorker }: BenchContext,
  more: Readonly<Record<string, string>> = {},
): Promise<ApiUnderTest> {
  const port = await freePort();
  const { host, port: databasePort, database } = services.database;
  const worker = await startWorker({
    services: 'database-http',
    'database.http.listeners': `http://127.0.0.1:${String(port)}`,
    'database.http.tls': 'off',
    'database.http.connection.url': `postgresql://${host}:${String(databasePort)}`,
    'database.http.default.database': database,
    ...more,
  });
  return { worker, port, token: await login(port, services) };
}

async function login(port: number, { database }: BenchServices): Promise<string> {
  const basic = Buffer.from(`${database.user}:${database.password}`).toString('base64');
  const response = await fetch(`http://127.0.0.1:${String(port)}/restapi/login`, {
    headers: { Authorization: `Basic ${basic}` },
  });
  const { token } = (await response.json()) as { token?: string };
  if (token === undefined) throw new Error(`no login: ${String(response.status)}`);
  return token;
}
