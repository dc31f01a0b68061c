import assert from 'node:assert/strict';
import { loadWorkerConfig } from '../../../src/config/worker-config.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { SecretMask } from '../../../src/observe/secret-mask.ts';
import { StageTracker } from '../../../src/observe/stage.ts';
import { openListeners, type RestListeners } from '../../../src/rest/open-listeners.ts';
import { answersTo, HOSTILE_REQUESTS, SMUGGLED, statusesOf } from '../../support/hostile-requests.ts';
import { served, type ServedParts } from '../../../src/worker/routes.ts';

describe('the management API, of requests that are not well formed,', () => {
  let listeners: RestListeners;
  let port: number;

  before(async () => {
    const config = loadWorkerConfig({
      mode: 'standalone',
      properties: {
        'bootstrap.servers': 'nowhere:9092',
        'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
        'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
        'offset.storage.file.filename': 'offsets',
        listeners: 'http://127.0.0.1:0',
      },
    });
    const stage = new StageTracker();
    listeners = await openListeners(config, { stage, secrets: new SecretMask(), logger: silentLogger });
    listeners.serve(
      served({
        herder: { ready: true, stage, directory: { names: () => ['orders'] } },
        secrets: new SecretMask(),
        readings: {},
        logger: silentLogger,
      } as unknown as ServedParts),
    );
    port = Number(new URL(listeners.url).port);
  });
  after(() => listeners.close());

  /** Another request for the connectors, which may not be seen as one of its own. */
  const smuggled = (bytes: string) => bytes.replaceAll('/smuggled', '/connectors');

  for (const { name, bytes, statuses } of HOSTILE_REQUESTS) {
    it(`answers ${name} as one request, and no other after it`, async () => {
      const text = await answersTo(port, smuggled(bytes));
      const [status = 0, ...others] = statusesOf(text);
      assert.deepEqual(
        others.filter((other) => other === 200),
        [],
        text,
      );
      assert.ok(statuses?.includes(status) ?? status !== 200, text);
      assert.doesNotMatch(text, /orders/);
    });
  }

  it('takes what follows a refused body for the rest of that body', async () => {
    const length = 9 * 1024 * 1024;
    const head = `PUT /connectors/x/config HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${String(length)}\r\n\r\n`;
    const text = await answersTo(port, head + smuggled(SMUGGLED));
    assert.deepEqual(statusesOf(text), [413]);
  });

  it('answers pipelined requests in their order', async () => {
    const one = 'GET /connectors HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const other = 'GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n';
    assert.deepEqual(statusesOf(await answersTo(port, one + other + one)), [200, 404, 200]);
  });

  it('stays with HTTP/1.1 when asked for another protocol, and with its own host in absolute targets', async () => {
    const upgrades = ['websocket', 'h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__', 'TLS/1.0'];
    for (const protocol of upgrades) {
      const text = await answersTo(
        port,
        `GET /connectors HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: ${protocol}\r\n\r\n`,
      );
      assert.deepEqual(statusesOf(text), [200], protocol);
    }
    const absolute = (host: string) =>
      answersTo(port, `GET http://evil.example/connectors HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    assert.deepEqual(statusesOf(await absolute('localhost')), [200]);
    assert.deepEqual(statusesOf(await absolute('evil.example')), [403]);
    assert.deepEqual(
      statusesOf(await answersTo(port, 'CONNECT evil.example:80 HTTP/1.1\r\nHost: localhost\r\n\r\n')),
      [],
    );
  });
});
