import { RequestLog } from '../../../plugins/database-http/transport/request-log.ts';
import { CrossOrigin } from '../../../plugins/database-http/transport/cross-origin.ts';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Access } from '../../../plugins/database-http/access/access.ts';
import { jsonAnswer, type MethodRoute } from '../../../plugins/database-http/route.ts';
import { ServerSettings } from '../../../plugins/database-http/server-settings.ts';
import { ApiServer } from '../../../plugins/database-http/transport/api-server.ts';
import { silentLogger, type Logger } from '../../../src/index.ts';
import { eventLoopWatch } from '../../../src/observe/event-loop-watch.ts';
import { until } from '../../support/until.ts';

describe('a request of the HTTP API that keeps the event loop for more than a second', () => {
  it('is named in the warning, by its route alone', async () => {
    const slow: MethodRoute = {
      method: 'GET',
      path: '/slow',
      summary: 'A slow route',
      tag: 'API',
      answers: { 200: null },
      access: 'anyone',
      handle: () => {
        const end = performance.now() + 1_100;
        while (performance.now() < end);
        return Promise.resolve(jsonAnswer(200, {}));
      },
    };
    const api = new ApiServer(
      {
        routes: [slow],
        access: undefined as unknown as Access,
        serverSettings: new ServerSettings(silentLogger, () => undefined),
        crossOrigin: new CrossOrigin([]),
        requestLog: new RequestLog(silentLogger, 'off'),
        proxies: { clientOf: () => '127.0.0.1' },
        databaseAnswers: async () => true,
        logger: silentLogger,
      },
      {
        defaultDatabase: 'd',
        maxBodyBytes: 1_000,
        clientTimeoutMs: 10_000,
        takeTimeoutMs: 10_000,
        statementTimeoutMs: undefined,
      },
    );
    const warnings: string[] = [];
    const logger = { child: () => ({ warn: (text: string) => warnings.push(text) }) } as unknown as Logger;
    const stop = eventLoopWatch.start(logger);
    const server = createServer((request, response) => api.handle(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const answer = await fetch(`http://127.0.0.1:${String(port)}/slow?p=secret`);
      assert.equal(answer.status, 200);
      await answer.text();
      const warning = await until(() => warnings.find((text) => text.includes('/slow')), 'a warning names it');
      assert.match(warning, /Last entered: request GET \/slow[.;] /);
      assert.doesNotMatch(warning, /secret/);
    } finally {
      stop();
      server.closeAllConnections();
      server.close();
    }
  });
});
