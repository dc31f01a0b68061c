import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigError } from '../../src/errors.ts';
import { enterThread } from '../../src/threads/inside-thread.ts';
import type { ControlFunctions, ServiceThreadFunctions } from '../../src/threads/thread-protocol.ts';

const instance = randomUUID();

/** Runs in a thread. The service returns a name that is different for each instance, and obeys `/hang` and `/exit`. */
const server = createServer(({ url }, response) => {
  response.end(instance);
  if (url === '/hang') setTimeout(hangForEver, 50);
  if (url === '/exit') setTimeout(() => process.exit(7), 50);
});

const { data, calls } = enterThread<ServiceThreadFunctions, ControlFunctions>(() => ({
  start: async ({ fake: earlier }) => {
    const { refusal } = data.properties;
    if (refusal !== undefined) throw new ConfigError(refusal);
    await new Promise<void>((resolve, reject) => {
      server
        .on('error', reject)
        .listen(earlier === undefined ? 0 : Number(new URL(earlier).port), '127.0.0.1', resolve);
    });
    return { fake: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` };
  },
  stop: async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  },
}));
calls.tell('ready');

function hangForEver(): never {
  for (;;);
}
