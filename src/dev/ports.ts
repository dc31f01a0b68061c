import { once } from 'node:events';
import { createServer } from 'node:net';
import { ConnectError, toError } from '../errors.ts';

// The range is below 32768, where Linux's ephemeral ports begin. If a service with an ephemeral port is stopped, a
// client that reconnects can get the same local port and connect to itself. The service could then not listen on its
// port again.
const lowestPort = 20_000;
const highestPort = 32_000;

const PORT_TRIES = 5;

const handedOut = new Set<number>();

/**
 * Returns a free TCP port. Each call in a process returns a different port. A service can use the port again after a
 * restart.
 */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = lowestPort + Math.floor(Math.random() * (highestPort - lowestPort));
    if (!handedOut.has(port) && (await isFree(port, host))) {
      handedOut.add(port);
      return port;
    }
  }
  throw new ConnectError(`No free port found on ${host} between ${String(lowestPort)} and ${String(highestPort)}`);
}

/**
 * Returns `wanted` or the next higher port that is free and not in `except`.
 * @internal
 */
export async function nextFreePort(
  wanted: number,
  { host = '127.0.0.1', except = [] }: { readonly host?: string; readonly except?: readonly number[] } = {},
): Promise<number> {
  for (let port = wanted; port < Math.min(wanted + 1000, 65_536); port++) {
    if (!except.includes(port) && (await isFree(port, host))) return port;
  }
  throw new ConnectError(`No free port found on ${host} from ${String(wanted)} on`);
}

/**
 * Starts a service with the next free port for each wanted port. If another process takes one of these ports before the
 * service listens on it, the service is started again with other ports; there are at most 5 starts in total.
 */
export async function startOnFreePorts<T>(
  wanted: readonly number[],
  start: (ports: readonly number[]) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const ports: number[] = [];
    for (const port of wanted) ports.push(await nextFreePort(port, { except: ports }));
    try {
      return await start(ports);
    } catch (error) {
      const free = await Promise.all(ports.map((port) => isFree(port)));
      if (free.every(Boolean)) throw error;
      if (tries < PORT_TRIES) continue;
      const taken = ports.filter((_, index) => free[index] === false).join(', ');
      throw new ConnectError(
        `The start failed ${String(tries)} times, because other processes took the chosen ports first. At the last attempt, these ports were taken: ${taken}`,
        { cause: error },
      );
    }
  }
}

/** Whether a server can listen on `host:port` now. Rejects if the host is not an address of this machine. */
export async function isFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ port, host, exclusive: true });
    await once(server, 'listening');
    return true;
  } catch (error) {
    const code = (toError(error) as NodeJS.ErrnoException).code;
    if (code === 'EADDRINUSE' || code === 'EACCES') return false;
    throw error;
  } finally {
    if (server.listening) {
      server.close();
      await once(server, 'close');
    }
  }
}
