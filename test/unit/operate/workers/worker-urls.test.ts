import assert from 'node:assert/strict';
import { NotOwnerError } from '../../../../src/herder/not-owner-error.ts';
import type { PeerRequest } from '../../../../src/herder/peer-client.ts';
import type { HttpAnswer } from '../../../../src/http/http-client.ts';
import { WorkerUrls } from '../../../../src/operate/workers/worker-urls.ts';

type Parameters = ConstructorParameters<typeof WorkerUrls>;

const LEADER = 'https://leader.example:8443/';
const ANSWER = [{ worker_id: 'Second:8083', url: 'https://second.example:8443/' }];

/** A worker that does not lead, and what it has asked the leader for. */
function follower(answers: () => HttpAnswer): { urls: WorkerUrls; requests: PeerRequest[]; next: () => void } {
  const requests: PeerRequest[] = [];
  let generation = 1;
  const herder = { cluster: () => ({ generation }) };
  const members = {
    workers: () => {
      throw new NotOwnerError('not the leader', LEADER);
    },
  };
  const peers = {
    request: (request: PeerRequest) => {
      requests.push(request);
      return Promise.resolve(answers());
    },
  };
  const next = (): void => void generation++;
  return { urls: new WorkerUrls(...([herder, peers, members] as unknown as Parameters)), requests, next };
}

const ok = (body: unknown): HttpAnswer => ({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)) });
const find = (urls: WorkerUrls) => urls.find('Basic secret', 'http://own:8083', 1000);

describe('the addresses of other workers', () => {
  it('are those that the members have sent to the leader, asked once for each generation', async () => {
    const { urls, requests, next } = follower(() => ok(ANSWER));
    for (let times = 0; times < 2; times++) {
      const addressOf = await find(urls);
      assert.deepEqual(addressOf('second:8083'), { url: 'https://second.example:8443', isOfGroup: true });
    }
    assert.deepEqual(
      requests.map(({ url, headers }) => [url, headers['authorization']]),
      [['https://leader.example:8443/cluster/workers?forward=false', 'Basic secret']],
    );
    next();
    await find(urls);
    assert.equal(requests.length, 2);
  });

  it('come from worker ids, and get no credentials, where the leader does not know them or cannot be asked', async () => {
    const answers: readonly (() => HttpAnswer)[] = [
      () => ok(ANSWER),
      () => ok({ error_code: 404 }),
      () => ({ ...ok({}), body: Buffer.from('no JSON') }),
      () => {
        throw new Error('unreachable');
      },
    ];
    for (const answer of answers) {
      const addressOf = await find(follower(answer).urls);
      assert.deepEqual(addressOf('third:8083'), { url: 'https://third:8083', isOfGroup: false });
    }
  });

  it('are hosts with ports, whatever a status says that a worker is called', async () => {
    const addressOf = await find(follower(() => ok(ANSWER)).urls);
    for (const worker of [
      'evil.example/x?:1',
      'user@evil.example:1',
      '169.254.169.254:80/meta',
      'a b:1',
      '',
      'evil.example',
      '#:1',
    ]) {
      assert.throws(() => addressOf(worker), /is not the id of a worker/, worker);
    }
    for (const worker of ['10.0.0.1:8083', '[::1]:8083', 'connect-0.connect:8083']) {
      assert.equal(addressOf(worker).url, `https://${worker}`);
    }
  });
});
