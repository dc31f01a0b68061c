import assert from 'node:assert/strict';
import { NotOwnerError } from '../../../../src/herder/not-owner-error.ts';
import type { PeerRequest } from '../../../../src/herder/peer-client.ts';
import type { GroupWorker } from '../../../../src/herder/group/placement.ts';
import { signatureCheck } from '../../../../src/herder/request-signature.ts';
import { WorkerDrains } from '../../../../src/operate/drain/worker-drains.ts';

const KEY = { key: Buffer.from('secret').toString('base64'), algorithm: 'HmacSHA256', createdAtMs: 0 };

function worker(name: string, tasks: number, draining = false): GroupWorker {
  return { workerId: `${name}:8083`, url: `http://${name}:8083/`, draining, connectors: 0, tasks };
}

/** The leader `a` of a group. */
class Leader {
  members: readonly GroupWorker[] | undefined = [worker('a', 3), worker('b', 3)];
  isLeaderForeign = false;
  leaderUrl = 'http://a:8083/';
  isDraining = false;
  status = 204;
  readonly requests: PeerRequest[] = [];
  readonly drains = new WorkerDrains(
    this.placement(),
    {
      request: (request) => {
        this.requests.push(request);
        return Promise.resolve({ status: this.status, headers: {}, body: Buffer.from('no') });
      },
    },
    () => KEY,
    'HmacSHA256',
    'a:8083',
  );

  placement() {
    // eslint-disable-next-line @typescript-eslint/no-this-alias -- the getters read the leader
    const leader = this;
    return {
      get isLeaderForeign() {
        return leader.isLeaderForeign;
      },
      get leaderUrl() {
        return leader.leaderUrl;
      },
      workers: () => this.members,
      drain: (isDraining: boolean) => {
        this.isDraining = isDraining;
      },
    };
  }

  states(): string[] {
    return this.drains.workers().map(({ workerId, state }) => `${workerId} ${state}`);
  }
}

describe('draining a worker', () => {
  it('reaches the worker by a signed request, and is visible at once', async () => {
    const leader = new Leader();
    assert.equal((await leader.drains.drain('b:8083', true)).state, 'draining');
    const [request] = leader.requests;
    assert.deepEqual([request?.method, request?.url], ['PUT', 'http://b:8083/cluster/drain']);
    const body = request?.body ?? Buffer.alloc(0);
    assert.deepEqual(JSON.parse(body.toString()), { worker: 'b:8083', drain: true });
    const signature = request?.headers['X-Connect-Authorization'];
    signatureCheck({ algorithm: 'HmacSHA256', signature }, ['HmacSHA256'], KEY)(body);
    assert.deepEqual(leader.states(), ['a:8083 running', 'b:8083 draining']);
    leader.members = [worker('a', 6), worker('b', 0, true)];
    assert.deepEqual(leader.states(), ['a:8083 running', 'b:8083 drained']);
  });

  it('needs no request when the leader itself is drained', async () => {
    const leader = new Leader();
    await leader.drains.drain('A:8083', true);
    assert.equal(leader.isDraining, true);
    assert.deepEqual(leader.requests, []);
    await leader.drains.drain('a:8083', false);
    assert.equal(leader.isDraining, false);
    assert.deepEqual(leader.states(), ['a:8083 running', 'b:8083 running']);
  });

  it('is refused for the last worker that takes work, also before the group has heard of the other one', async () => {
    const leader = new Leader();
    await leader.drains.drain('b:8083', true);
    const refused =
      /^RequestError: Worker a:8083 cannot be drained, because no other worker takes work\. Start another worker first/;
    await assert.rejects(leader.drains.drain('a:8083', true), refused);
    assert.equal(leader.isDraining, false);
  });

  it('is refused for a worker that is not there', async () => {
    await assert.rejects(
      new Leader().drains.drain('c:8083', true),
      /Worker c:8083 is not in the group\. Its workers are a:8083, b:8083\./,
    );
  });

  it('counts for nothing when the worker does not take it', async () => {
    const leader = new Leader();
    leader.status = 500;
    await assert.rejects(leader.drains.drain('b:8083', true), /Worker b:8083 answered 500 to the request to drain: no/);
    assert.deepEqual(leader.states(), ['a:8083 running', 'b:8083 running']);
  });

  it('is the leader’s to decide; a Java leader cannot', async () => {
    const leader = new Leader();
    leader.members = undefined;
    await assert.rejects(
      leader.drains.drain('b:8083', true),
      (error) => error instanceof NotOwnerError && error.url === leader.leaderUrl,
    );
    leader.isLeaderForeign = true;
    await assert.rejects(leader.drains.drain('b:8083', true), /http:\/\/a:8083\/, is not a Sluice worker/);
  });

  it('is not obeyed by another worker', () => {
    const leader = new Leader();
    assert.throws(() => {
      leader.drains.onOrder({ worker: 'b:8083', drain: true });
    }, /This is worker a:8083, not b:8083\./);
    assert.equal(leader.isDraining, false);
  });
});
