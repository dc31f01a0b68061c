import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { assertDescribed } from '../support/open-api-check.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { WorkerCluster } from '../support/worker-cluster.ts';

interface Change {
  readonly n: number;
  readonly at: string;
  readonly what: string;
  readonly by: { user: string | null; address: string | null; via?: string } | null;
  readonly state: string;
  readonly worker: string | null;
  readonly task?: number;
  readonly restoredFrom?: number;
  readonly difference: readonly { key: string; before?: string; after?: string }[] | null;
}

type Config = Readonly<Record<string, string>>;

const SECRET = 'x9-Tr0ub4dor-of-history';
const NEWER = 'y7-C0rrect-horse-staple';

describe('the history of a connector', () => {
  let cluster: WorkerCluster;
  let folder = '';
  let topic = '';
  let leader = 0;
  let follower = 1;
  const registry = { 'value.converter': 'org.apache.kafka.connect.json.JsonConverter' };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-history-'));
    const users = join(folder, 'users.properties');
    await writeFile(users, 'ann=s3cret\nbob=s3cret\n');
    topic = uniqueName('history');
    const kafka = await KafkaTraffic.shared();
    [cluster] = await Promise.all([
      WorkerCluster.start(
        2,
        {
          'rest.extension.classes': 'BasicAuthSecurityRestExtension',
          'rest.basic.auth.credentials.file': users,
        },
        'ann:s3cret',
      ),
      kafka.createTopic(topic),
    ]);
    await until(async () => {
      const leads = await Promise.all(
        [0, 1].map(async (one) => (await ask<{ is_leader: boolean }>('GET', '/cluster', undefined, one)).is_leader),
      );
      leader = leads.indexOf(true);
      follower = leads.indexOf(false);
      return leader >= 0 && follower >= 0;
    }, 'one worker leads');
  });

  after(async () => {
    await cluster.discard();
    await rm(folder, { recursive: true, force: true });
  });

  async function send(
    method: string,
    path: string,
    body?: unknown,
    worker = follower,
    user = 'ann',
    headers: Config = {},
  ) {
    const response = await fetch(`${cluster.worker(worker).url}${path}`, {
      method,
      headers: {
        authorization: `Basic ${Buffer.from(`${user}:s3cret`).toString('base64')}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed = (text === '' ? '' : JSON.parse(text)) as unknown;
    if (!path.startsWith('/ui')) assertDescribed(method, path, response.status, parsed);
    return { status: response.status, body: parsed };
  }

  async function ask<T>(method: string, path: string, body?: unknown, worker?: number, user?: string): Promise<T> {
    const answer = await send(method, path, body, worker, user);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer)}`);
    return answer.body as T;
  }

  async function history(name: string, worker = follower): Promise<readonly Change[]> {
    const found = await ask<Change[]>('GET', `/connectors/${encodeURIComponent(name)}/history`, undefined, worker);
    assert.ok(!JSON.stringify(found).includes(SECRET) && !JSON.stringify(found).includes(NEWER));
    return found;
  }

  const sink = (more: Config = {}) => ({
    'connector.class': 'FileStreamSink',
    topics: topic,
    file: '/dev/null',
    'consumer.override.sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="${SECRET}";`,
    ...registry,
    ...more,
  });
  const hostOf = (worker: number) => new URL(cluster.worker(worker).url).host;

  it('reports author and change through any worker, and restores earlier configurations, real secrets included', async () => {
    const name = uniqueName('known/é');
    const path = `/connectors/${encodeURIComponent(name)}`;
    await ask('POST', '/connectors', { name, config: sink() }, follower, 'ann');
    await ask(
      'PUT',
      `${path}/config`,
      { ...sink({ file: '/dev/zero', 'tasks.max': '2' }), 'consumer.override.sasl.jaas.config': NEWER },
      leader,
      'bob',
    );
    await ask('PUT', `${path}/pause`, undefined, follower, 'bob');
    await ask('PUT', `${path}/pause`, undefined, leader, 'ann');
    await ask('PUT', `${path}/resume`, undefined, leader, 'ann');
    await ask('PATCH', `${path}/config`, { 'tasks.max': null }, follower, 'ann');

    const changes = await history(name);
    assert.deepEqual(await history(name, leader), changes);
    const ns = changes.map(({ n }) => n);
    assert.deepEqual(
      ns,
      [...ns].sort((a, b) => b - a),
    );
    const forwarded = (user: string) => ({ user, address: '127.0.0.1', via: '127.0.0.1' });
    const direct = (user: string) => ({ user, address: '127.0.0.1' });
    assert.deepEqual(
      changes.map(({ what, by, state }) => [what, by, state]),
      [
        ['changed', forwarded('ann'), 'RUNNING'],
        ['resumed', direct('ann'), 'RUNNING'],
        ['paused', direct('bob'), 'PAUSED'],
        ['changed', direct('bob'), 'RUNNING'],
        ['created', forwarded('ann'), 'RUNNING'],
      ],
    );
    assert.deepEqual(changes[0]?.difference, [{ key: 'tasks.max', before: '2' }]);
    assert.deepEqual(changes[1]?.difference, []);
    assert.deepEqual(changes[3]?.difference, [
      { key: 'consumer.override.sasl.jaas.config', before: '[hidden]', after: '[hidden]' },
      { key: 'file', before: '/dev/null', after: '/dev/zero' },
      { key: 'tasks.max', after: '2' },
    ]);
    assert.ok(changes[4]?.difference?.some(({ key, after }) => key === 'topics' && after === topic));

    const first = String(ns.at(-1));
    const restored = await send('POST', `${path}/history/${first}/restore`, undefined, follower, 'bob');
    assert.equal(restored.status, 200);
    assert.deepEqual(await ask('GET', `${path}/config`), { ...sink(), name });
    const [newest] = await history(name);
    assert.deepEqual([newest?.what, newest?.restoredFrom, newest?.by], ['restored', Number(first), forwarded('bob')]);
    assert.deepEqual(
      newest?.difference?.map(({ key }) => key),
      ['consumer.override.sasl.jaas.config', 'file'],
    );

    await ask('DELETE', path, undefined, follower, 'bob');
    const [deleted] = await history(name);
    assert.deepEqual([deleted?.what, deleted?.by, deleted?.difference], ['deleted', forwarded('bob'), []]);
    const gone = await send('POST', `${path}/history/${String(deleted?.n)}/restore`);
    assert.deepEqual(
      [gone.status, (gone.body as { message: string }).message],
      [400, `Change ${String(deleted?.n)} deleted the connector; restore one before it`],
    );
    const paused = changes[2]?.n;
    const again = await send('POST', `${path}/history/${String(paused)}/restore`, undefined, leader);
    assert.equal(again.status, 201);
    const back = await ask<Config>('GET', `${path}/config`);
    assert.deepEqual([back['file'], back['consumer.override.sasl.jaas.config']], ['/dev/zero', NEWER]);
    assert.deepEqual((await history(name))[0]?.state, 'PAUSED', 'it rests, as it did then');

    assert.equal((await send('POST', `${path}/history/999999/restore`)).status, 404);
    assert.equal((await send('GET', '/connectors/never-was/history')).status, 404);
  }).timeout(30_000);

  it('restores a configuration for a browser through any worker, after it has shown the difference; no secret is sent there', async () => {
    const name = uniqueName('shown/é');
    const path = `/connectors/${encodeURIComponent(name)}`;
    await ask('POST', '/connectors', { name, config: sink() }, leader);
    const later = { 'consumer.override.sasl.jaas.config': NEWER, file: '/dev/zero' };
    await ask('PUT', `${path}/config`, sink(later), leader);
    const first = `/ui${path}/changes/${String((await history(name)).at(-1)?.n)}`;
    const shown = await ask<{ newest: number; restarts: boolean; exists: boolean; difference: Change['difference'] }>(
      'GET',
      first,
    );
    assert.deepEqual([shown.restarts, shown.exists], [true, true]);
    assert.deepEqual(shown.difference, [
      { key: 'consumer.override.sasl.jaas.config', before: '[hidden]', after: '[hidden]' },
      { key: 'file', before: '/dev/zero', after: '/dev/null' },
    ]);
    assert.equal((await send('POST', `${first}/restore?newest=${String(shown.newest - 1)}`)).status, 409);
    const restored = await send('POST', `${first}/restore?newest=${String(shown.newest)}`, undefined, follower, 'bob');
    assert.deepEqual(restored, { status: 200, body: { name } });
    const [newest] = await history(name);
    assert.deepEqual([newest?.what, newest?.by?.user, newest?.by?.address], ['restored', 'bob', '127.0.0.1']);
    assert.deepEqual(await ask('GET', `${path}/config`), { ...sink(), name });

    await ask('DELETE', path);
    const gone = await ask<{ connectors: { name: string }[] }>('GET', '/ui/deleted-connectors');
    assert.equal(gone.connectors[0]?.name, name);
    const last = await ask<typeof shown>('GET', first);
    assert.equal(last.exists, false);
    const again = await send('POST', `${first}/restore?newest=${String(last.newest)}`);
    assert.deepEqual(again, { status: 201, body: { name } });
  });

  it('has restarts and changes of offsets, with the task and the worker that did it (U12)', async () => {
    const name = uniqueName('restarted');
    const path = `/connectors/${name}`;
    await ask('POST', '/connectors', { name, config: sink() });
    await until(
      async () => (await ask<{ tasks: { state: string }[] }>('GET', `${path}/status`)).tasks[0]?.state === 'RUNNING',
      'the task runs',
    );
    await ask('POST', `${path}/tasks/0/restart`, undefined, follower, 'bob');
    await ask('POST', `${path}/restart?includeTasks=true`, undefined, follower, 'ann');
    await ask('PUT', `${path}/stop`);
    await until(async () => (await send('DELETE', `${path}/offsets`)).status === 200, 'the group has no members');
    const changes = await history(name);
    assert.deepEqual(
      changes.map(({ what, by, task }) => [what, by?.user, task]),
      [
        ['offsetsChanged', 'ann', undefined],
        ['stopped', 'ann', undefined],
        ['restarted', 'ann', undefined],
        ['restarted', 'bob', 0],
        ['created', 'ann', undefined],
      ],
    );
    for (const index of [0, 2, 4]) assert.equal(changes[index]?.worker, hostOf(leader), 'the leader did it');
  });

  it('claims no address for a forwarded request that no worker vouches for', async () => {
    const name = uniqueName('claimed');
    const forged = {
      'x-sluice-client-address': '10.1.2.3',
      'x-sluice-client-signature': `HmacSHA256:${Buffer.alloc(32).toString('base64')}`,
    };
    const created = await send('PUT', `/connectors/${name}/config`, sink(), leader, 'ann', forged);
    assert.equal(created.status, 201);
    await send('PUT', `/connectors/${name}/config?forward=false`, sink(), leader, 'ann');
    assert.deepEqual(
      (await history(name)).map(({ by }) => by),
      Array(2).fill({ user: 'ann', address: null, via: '127.0.0.1' }),
    );
  });

  it('contains changes that others wrote into the config topic, without an author, and outlives the workers', async () => {
    const name = uniqueName('foreign');
    const kafka = await KafkaTraffic.shared();
    await ask('POST', '/connectors', { name, config: sink() });
    const record = { properties: { ...sink({ file: '/dev/zero' }), name } };
    const configTopic = cluster.worker(0).properties['config.storage.topic'] ?? '';
    await kafka.produce(configTopic, [{ key: `connector-${name}`, value: JSON.stringify(record) }]);
    const [foreign, created] = await until(async () => {
      const found = await history(name);
      return found.length > 1 ? found : undefined;
    }, 'the leader has noticed the change');
    assert.deepEqual([foreign?.what, foreign?.by], ['changed', null]);
    assert.deepEqual(foreign?.difference, [{ key: 'file', before: '/dev/null', after: '/dev/zero' }]);

    await cluster.worker(leader).terminate();
    await until(
      async () => (await ask<{ is_leader: boolean }>('GET', '/cluster', undefined, follower)).is_leader,
      'the other leads',
    );
    assert.deepEqual(await history(name), [foreign, created]);
    await cluster.worker(leader).start();
    assert.deepEqual(await history(name, leader), [foreign, created], hostOf(leader));
  }).timeout(60_000);
});
