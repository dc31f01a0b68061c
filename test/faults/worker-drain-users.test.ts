import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drain } from '../../src/cli/messages/drain.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { WorkerCluster } from '../support/worker-cluster.ts';

const LOGIN = 'ann:correct';
const TASKS = 6;

interface WorkerView {
  readonly worker_id: string;
  readonly state: string;
  readonly is_leader: boolean;
  readonly tasks: number;
}

describe('S9: a worker of a group with BasicAuth', function () {
  let folder: string;
  let cluster: WorkerCluster;
  const name = uniqueName('drained-users');

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-drain-'));
    const users = join(folder, 'users.properties');
    await writeFile(users, LOGIN.replace(':', '='));
    const properties = {
      'rest.extension.classes': 'org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension',
      'rest.basic.auth.credentials.file': users,
    };
    const [kafka] = await Promise.all([
      KafkaTraffic.shared(),
      WorkerCluster.start(3, properties, LOGIN).then((started) => (cluster = started)),
    ]);
    await kafka.createTopic(name, TASKS);
    await cluster.rest(0).create(name, {
      'connector.class': 'FileStreamSink',
      topics: name,
      file: '/dev/null',
      'tasks.max': String(TASKS),
    });
    await cluster.untilRuns(name, TASKS);
    await cluster.settled();
  });
  after(async () => {
    await cluster?.discard();
    await rm(folder, { recursive: true, force: true });
  });

  it('is drained and takes work again by a request to any worker; requests without user or signature are refused', async () => {
    const idOf = (worker: number) => new URL(cluster.worker(worker).url).host;
    const views = async () => (await cluster.rest(0).get<WorkerView[]>('/cluster/workers')).body;
    const leaderId = (await views()).find(({ is_leader: isLeader }) => isLeader)?.worker_id;
    const leader = [0, 1, 2].findIndex((worker) => idOf(worker) === leaderId);
    const [drained = -1, other = -1] = [0, 1, 2].filter((worker) => worker !== leader);

    const [user, password] = LOGIN.split(':');
    const url = cluster.worker(other).url.replace('http://', `http://${String(user)}:${String(password)}@`);
    const lines: string[] = [];
    await drain({ url, worker: idOf(drained), undo: false, noWait: false }, (line) => lines.push(line));
    assert.match(lines.at(-1) ?? '', /: drained, 0 connectors and 0 tasks left$/);
    await cluster.untilRuns(name, TASKS, [leader, other]);

    const order = JSON.stringify({ worker: idOf(drained), drain: false });
    const plain = { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body: order };
    const unsigned = await fetch(`${cluster.worker(drained).url}/cluster/drain`, plain);
    assert.deepEqual(
      [unsigned.status, await unsigned.json()],
      [400, { error_code: 400, message: 'Internal request missing required signature' }],
    );
    const anonymous = await fetch(`${cluster.worker(other).url}/cluster/workers/${idOf(drained)}/drain`, plain);
    assert.deepEqual([anonymous.status, await anonymous.text()], [401, 'User cannot access the resource.']);
    assert.equal((await views()).find(({ worker_id: id }) => id === idOf(drained))?.state, 'drained');

    await drain({ url, worker: idOf(drained), undo: true, noWait: false }, (line) => lines.push(line));
    await until(
      async () => ((await views()).find(({ worker_id: id }) => id === idOf(drained))?.tasks ?? 0) > 0,
      'it takes work again',
    );
  }).timeout(60_000);
});
