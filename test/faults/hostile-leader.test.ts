import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { encodeAssignment, encodeMetadata, NO_WORK, type Work } from '../../src/herder/group/group-bytes.ts';
import { HostileMember } from '../support/hostile-member.ts';
import { broker, uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const PROTOCOLS = ['sessioned', 'compatible', 'default'];
const NONSENSE: Work = {
  connectors: ['no-such-connector', 'x'.repeat(1_000), '../a', '__proto__'],
  tasks: Array.from({ length: 2_000 }, (_, task) => ({ connector: 'no-such-connector', task })),
};
const SINK = { 'connector.class': 'FileStreamSink', topics: 'none', file: '/dev/null', 'tasks.max': '1' };

describe('a worker whose group is led by a hostile member that imitates a worker', () => {
  let worker: WorkerProcess | undefined;
  let leader: HostileMember | undefined;
  let server: Server | undefined;
  const received: { readonly head: IncomingMessage; readonly body: string }[] = [];

  afterEach(async () => {
    await worker?.discard();
    await leader?.end();
    server?.close();
    server?.closeAllConnections();
  });

  it('keeps answering, starts nothing that does not exist, sends no session key, and works when that member is gone', async () => {
    const groupId = uniqueName('hostile-leader');
    worker = await WorkerProcess.start({ properties: { 'group.id': groupId } });
    await worker.rest.create('own', SINK);
    await worker.rest.untilState('own', 'RUNNING', 1);
    await worker.terminate();

    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        received.push({ head: request, body: Buffer.concat(chunks).toString() });
        response.writeHead(200, { 'Content-Type': 'text/html', Location: 'http://elsewhere/' }).end('<script>');
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const leaderUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
    const assignment = encodeAssignment(
      {
        ...{ error: 'none', leader: 'sluice-evil', leaderUrl, configOffset: 1 },
        ...{ assigned: NONSENSE, revoked: NO_WORK, delayMs: 0 },
      },
      'sessioned',
    );
    leader = new HostileMember({
      ...{ bootstrap: (await broker()).bootstrapServers, groupId, type: 'connect', clientId: 'sluice-evil' },
      protocols: PROTOCOLS,
      metadata: () => encodeMetadata({ url: leaderUrl, configOffset: 1, allocation: null }, 'sessioned'),
      assign: ({ members }) => Promise.resolve(new Map(members.map(({ memberId }) => [memberId, assignment]))),
    });
    await leader.join();
    assert.ok(leader.isLeading);
    let isOver = false;
    const staying = leader.stay(() => isOver);
    await worker.start();
    const { body: cluster } = await worker.rest.get<{ leader_url: string }>('/cluster');
    assert.equal(cluster.leader_url, leaderUrl);
    assert.deepEqual((await worker.rest.get('/connectors')).body, ['own']);

    // The request of a user goes where the leader says that it is.
    const answer = await fetch(`${worker.url}/connectors/other/config`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...SINK, name: 'other' }),
    });
    assert.equal(answer.headers.get('content-type')?.startsWith('text/plain'), true, 'no page for a browser');
    assert.ok(received.length > 0);
    for (const { head, body } of received) {
      assert.doesNotMatch(`${JSON.stringify(head.headers)}${body}`, /session-key/);
      assert.equal(head.headers['x-connect-authorization'], undefined, 'it is not signed as a request of a worker');
    }
    assert.equal((await worker.rest.get('/health')).status, 200);

    isOver = true;
    await staying;
    await leader.leave();
    await until(
      async () => (await worker?.rest.get<{ is_leader: boolean }>('/cluster'))?.body.is_leader === true,
      'the worker leads',
    );
    await worker.rest.untilState('own', 'RUNNING', 1);
    await worker.rest.create('third', SINK);
    await worker.rest.untilState('third', 'RUNNING', 1);
    assert.equal(worker.log.split('\n').filter((line) => /unhandled|uncaught/i.test(line)).length, 0);
  });
});
