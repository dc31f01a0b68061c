import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

const used = new Set<number>();

/**
 * Listens on a port of 127.0.0.1 that no earlier call in this process has returned. The product keeps what it learned about
 * a server by host and port, so that a second server on the same port would pass for the first one.
 */
export async function listenOnNewPort(server: Server): Promise<number> {
  for (;;) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    if (!used.has(port)) {
      used.add(port);
      return port;
    }
    server.close();
    await once(server, 'close');
  }
}
