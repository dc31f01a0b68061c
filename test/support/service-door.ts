import { once } from 'node:events';
import { createServer, get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

const VARIABLE = 'SLUICE_TEST_SERVICES_DOOR';

/** Returns true if this is a mocha process that runs files for another one. */
export function isLane(): boolean {
  return process.env['MOCHA_WORKER_ID'] !== undefined;
}

/**
 * Opens an HTTP listener on the loopback address, from which the lanes of a parallel run get the services that they
 * share. Each path returns a JSON value and starts its service at the first request.
 */
export async function openServiceDoor(services: Readonly<Record<string, () => Promise<unknown>>>): Promise<Server> {
  const server = createServer((request, response) => {
    const start = services[request.url ?? ''] ?? (() => Promise.reject(new Error(`no service ${request.url ?? ''}`)));
    start().then(
      (service) => response.end(JSON.stringify(service)),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.stack : String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.env[VARIABLE] = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return server;
}

/** Returns the shared service at `path` if this process is a lane; otherwise a service that `start` starts. */
export async function askServiceDoor<T>(path: string, start: () => Promise<T>): Promise<T> {
  const door = process.env[VARIABLE];
  if (!isLane() || door === undefined) return start();
  const request = get(`${door}${path}`, { agent: false });
  const [response] = (await once(request, 'response')) as [Parameters<typeof text>[0] & { statusCode?: number }];
  const answer = await text(response);
  if (response.statusCode !== 200) throw new Error(`The shared service ${path} did not start: ${answer}`);
  return JSON.parse(answer) as T;
}
