import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { pino } from 'pino';
import { ConfigError } from '../../../src/errors.ts';
import { LogLevels } from '../../../src/observe/log-levels.ts';
import { SecretMask } from '../../../src/observe/secret-mask.ts';
import { ServiceThread } from '../../../src/threads/service-thread.ts';
import { ThreadList } from '../../../src/threads/thread-list.ts';
import { until } from '../../support/until.ts';

const ENTRY = new URL('../../support/service-thread-fake.ts', import.meta.url);
const HANG_TIMEOUT_MS = 2000;

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly err?: { readonly stack: string };
}

describe('the service thread', () => {
  let threads: ThreadList;
  let lines: Line[];
  let services: ServiceThread;
  let onLine: (line: Line) => void;

  function open(properties: Readonly<Record<string, string>> = {}): ServiceThread {
    threads = new ThreadList();
    lines = [];
    onLine = () => undefined;
    const write = (text: string): void => {
      const line = JSON.parse(text) as Line;
      lines.push(line);
      onLine(line);
    };
    const logger = pino({ level: 'info' }, { write });
    services = new ServiceThread(
      { names: ['fake'], hangTimeoutMs: HANG_TIMEOUT_MS, entry: ENTRY },
      {
        properties,
        mode: 'standalone',
        exactlyOnceGroup: undefined,
        logLevels: new LogLevels(logger),
        secrets: new SecretMask(),
        logger,
        threads,
      },
    );
    return services;
  }

  const ask = async (address: string, path = '/'): Promise<string> => {
    const signal = AbortSignal.timeout(HANG_TIMEOUT_MS);
    return (await fetch(address + path, { signal, headers: { connection: 'close' } })).text();
  };
  const said = (text: RegExp): Line | undefined => lines.find(({ msg }) => text.test(msg));

  it('serves its addresses until it is stopped', async () => {
    const { fake = '' } = await open().start();
    try {
      assert.match(await ask(fake), /^[0-9a-f-]{36}$/);
      assert.deepEqual(
        threads.all().map(({ thread, purpose, isUp }) => [thread, purpose, isUp]),
        [[1, 'services', true]],
      );
    } finally {
      await services.stop();
    }
    await assert.rejects(ask(fake), { name: 'TypeError', message: 'fetch failed' });
    assert.deepEqual(threads.all(), []);
    assert.equal(lines.at(-1)?.msg, 'Thread 1 (services) ended: the worker stops');
  });

  it('rejects with the error of a service that fails to start, and ends', async () => {
    await assert.rejects(open({ refusal: 'fake.port: 7 is taken' }).start(), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.equal(error.message, 'fake.port: 7 is taken');
      return true;
    });
    assert.deepEqual(threads.all(), []);
  });

  it('is terminated if it hangs; its stack is logged and the services are restarted at the same address', async () => {
    const { fake = '' } = await open().start();
    try {
      const before = await ask(fake, '/hang');
      await until(async () => (await ask(fake)) !== before, 'an answer of the new thread');
      const hang = said(/^Thread 1 \(services\) hangs; terminating it: its event loop was blocked for [\d.]+ s$/);
      assert.match(hang?.err?.stack ?? '', /^ConnectError: Thread 1 hangs\n +at [\w.]*hangForEver /);
      assert.ok(said(/^fake has ended with its thread \(its event loop was blocked .*\); restarting in 0\.[23] s$/));
      await until(() => said(/^fake is available again at http:/), 'the line that says so');
      assert.equal(said(/^fake is available again/)?.msg, `fake is available again at ${fake}`);
    } finally {
      await services.stop();
    }
  });

  it('is replaced if it exits; while another process uses its address, each attempt is logged, with back-off', async () => {
    const { fake = '' } = await open().start();
    const squatter: Server = createServer((_, response) => response.end('squatter'));
    try {
      onLine = ({ msg }) => {
        if (msg.startsWith('fake has ended')) squatter.listen(Number(new URL(fake).port), '127.0.0.1');
      };
      const before = await ask(fake, '/exit');
      const failed = /^fake could not be restarted: listen EADDRINUSE: .*; restarting in ([\d.]+) s$/;
      const pauses = await until(() => {
        const found = lines.flatMap(({ msg }) => failed.exec(msg)?.[1] ?? []).map(Number);
        return found.length >= 2 && found;
      }, 'two tries that failed');
      assert.ok(said(/^fake has ended with its thread \(it exited with code 7\)/));
      assert.ok((pauses[1] ?? 0) > (pauses[0] ?? 0), pauses.join());
      assert.equal(await ask(fake), 'squatter');
      squatter.closeAllConnections();
      squatter.close();
      await once(squatter, 'close');
      await until(async () => ![before, 'squatter'].includes(await ask(fake)), 'an answer of the new thread');
    } finally {
      squatter.close();
      await services.stop();
    }
  });

  it('is terminated soon and not replaced if it hangs during the shutdown', async () => {
    const { fake = '' } = await open().start();
    await ask(fake, '/hang');
    await until(
      () =>
        ask(fake).then(
          () => false,
          () => true,
        ),
      'the thread hangs',
    );
    await services.stop();
    assert.deepEqual(threads.all(), []);
    assert.equal(said(/is started again|answers again/), undefined);
  });

  it('is not restarted if the worker stops during the back-off', async () => {
    const { fake = '' } = await open().start();
    const waits = new Promise<void>((resolve) => {
      onLine = ({ msg }) => {
        if (msg.startsWith('fake has ended')) resolve();
      };
    });
    await ask(fake, '/exit');
    await waits;
    await services.stop();
    assert.deepEqual(threads.all(), []);
    assert.equal(said(/answers again/), undefined);
  });
});
