import assert from 'node:assert/strict';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { loadWorkerConfig } from '../../src/config/worker-config.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { startWorker } from '../../src/worker/worker.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { ConnectRest } from '../support/rest.ts';
import { database, uniqueName } from '../support/services.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { evaluateInThread } from '../support/thread-debugger.ts';
import { until } from '../support/until.ts';
import { basic, send } from '../integration/http-fixture.ts';
import { standaloneProperties } from '../integration/http-worker-fixture.ts';

describe('a worker with services=database-http', () => {
  const folder = temporaryFolder('http-worker');

  it('answers again after its thread hung; meanwhile the management API and tasks continue (issue 14)', async () => {
    const access = await database('worker');
    const [topic, name, file] = [uniqueName('hung'), uniqueName('hung'), join(folder.path, 'lines.txt')];
    await writeFile(file, 'first\n');
    await (await KafkaTraffic.shared()).createTopic(topic);
    const config = loadWorkerConfig({
      mode: 'standalone',
      properties: await standaloneProperties(folder.path, {
        services: 'database-http',
        'task.hang.timeout.ms': '10000',
        'database.http.listeners': 'http://127.0.0.1:0',
        'database.http.tls': 'off',
        'database.http.connection.url': `jdbc:db://${access.host}:${String(access.port)}`,
        'database.http.default.database': access.database,
      }),
    });
    const log: string[] = [];
    const logger = pino({ level: 'info' }, { write: (line) => log.push(line) });
    const worker = await startWorker(config, { logger });
    try {
      await worker.started;
      const rest = new ConnectRest(worker.url);
      await rest.create(name, { 'connector.class': 'FileStreamSource', file, topic });
      const sent = async (): Promise<number> => {
        const page = await (await fetch(`${worker.url}/metrics`)).text();
        const sample = `kafka_connect_source_task_source_record_write_total{connector="${name}",task="0"} `;
        return Number(
          page
            .split('\n')
            .find((line) => line.startsWith(sample))
            ?.slice(sample.length) ?? 0,
        );
      };
      await until(async () => (await sent()) === 1, 'the first line is sent');
      const query = () =>
        send(`${worker.services['database-http'] ?? ''}/restapi/query`, 'POST', {
          authorization: basic(access.user, access.password),
          body: 'select 1',
        });
      assert.equal((await query()).status, 200);

      await evaluateInThread('services', 'setTimeout(function hangs() { for (;;); })');
      let isAnswered = false;
      const unanswered = assert.rejects(query()).finally(() => (isAnswered = true));
      await appendFile(file, 'second\n');
      await until(async () => (await sent()) === 2, 'the second line is sent');
      assert.equal((await rest.get('/connectors')).status, 200);
      assert.equal(isAnswered, false);
      await unanswered;

      await until(async () => (await query()).status === 200, 'an answer of the new thread');
      assert.match(
        log.find((line) => line.includes('(services) hangs; terminating it: its event loop was blocked')) ?? '',
        /at Timeout\.hangs/,
      );
      assert.equal((await rest.status(name)).tasks[0]?.state, 'RUNNING');
    } finally {
      await worker.stop();
    }
  });

  it('does not start when a service is invalid or cannot start, and says why', async () => {
    const cases: [Record<string, string>, RegExp][] = [
      [{ services: 'database-ftp' }, /services: there is no service "database-ftp"; there are database-http/],
      [{ services: 'database-http' }, /connection\.url/],
      [{ services: 'database-http', 'database.http.connection.url': 'mysql://x' }, /check connection\.url is correct/],
      [
        {
          services: 'database-http',
          'database.http.connection.url': 'jdbc:db://127.0.0.1:1',
          'database.http.tls.certificate': '/nowhere.pem',
          'database.http.tls.key': '/nowhere.key',
        },
        /nowhere/,
      ],
    ];
    for (const [more, message] of cases) {
      const config = loadWorkerConfig({
        mode: 'standalone',
        properties: await standaloneProperties(folder.path, more),
      });
      await assert.rejects(startWorker(config, { logger: silentLogger }), message);
    }
  });
});
