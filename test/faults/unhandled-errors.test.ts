import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const PLUGINS = fileURLToPath(new URL('../support/unruly-plugins', import.meta.url));

/** L7: nothing that a plugin does, short of killing the process, ends the worker. */
describe('an error that nobody handles', () => {
  let worker: WorkerProcess;
  let kafka: KafkaTraffic;
  let bystander: string;

  before(async () => {
    [worker, kafka] = await Promise.all([
      WorkerProcess.start({
        properties: {
          'plugin.path': PLUGINS,
          'exactly.once.source.support': 'enabled',
          'task.shutdown.graceful.timeout.ms': '300',
        },
      }),
      KafkaTraffic.shared(),
    ]);
    bystander = await create({});
    await worker.rest.untilState(bystander, 'RUNNING', 1);
  });

  afterEach('the worker and the other connector continue', async () => {
    await worker.rest.untilState(bystander, 'RUNNING', 1);
  });

  after(() => worker.discard());

  async function create(config: Record<string, string>): Promise<string> {
    const name = uniqueName('unruly');
    await worker.rest.create(name, { 'connector.class': 'UnrulySource', topic: name, ...config });
    return name;
  }

  async function unhandled(of: 'owned' | 'unknown'): Promise<number> {
    const { body } = await worker.rest.get<string>('/metrics');
    return Number(new RegExp(`^sluice_unhandled_errors_total\\{of="${of}"\\} (\\d+)$`, 'm').exec(body)?.[1]);
  }

  it('is not caused by a poll of an exactly-once source that returns after its task was abandoned', async () => {
    const name = uniqueName('unruly');
    await kafka.createTopic(name);
    await worker.rest.create(name, { 'connector.class': 'UnrulySource', topic: name, 'poll.ms': '1500' });
    await worker.rest.untilState(name, 'RUNNING', 1);
    assert.equal((await worker.rest.delete(`/connectors/${name}`)).status, 204);
    const ofTask = (text: string) => worker.log.split('\n').some((line) => line.includes(name) && line.includes(text));
    await until(() => ofTask('Graceful stop of task'), 'the task is given up');
    await until(() => ofTask(`ended: ${name}-0 did not stop within 300 ms`), 'its thread has ended');
    // The task of that name is through with all when another one can be made and run.
    const next = await create({});
    await worker.rest.untilState(next, 'RUNNING', 1);
    assert.deepEqual([await unhandled('owned'), await unhandled('unknown')], [0, 0]);
    assert.deepEqual(await kafka.all(name), []);
  });

  const reasons = {
    timer: 'thrown in a timer',
    rejection: 'rejected without a handler',
    emitter: 'emitted without a listener',
    exit: 'process\\.exit\\(0\\) was called by task [\\w-]+; it does not end the worker',
  };

  it('makes the task that caused it FAILED, with its trace, and a restart starts that task again', async () => {
    const before = await unhandled('owned');
    const names = await Promise.all(
      Object.entries(reasons).map(async ([deed, reason]) => {
        const name = await create({ 'task.does': deed });
        const trace = await until(async () => (await worker.rest.status(name)).tasks[0]?.trace, `${deed}: it fails`);
        assert.match(
          trace,
          /^org\.apache\.kafka\.connect\.errors\.ConnectException: Unhandled error in the code of task [\w-]+-0$/m,
        );
        assert.match(trace, new RegExp(reason));
        assert.equal((await worker.rest.status(name)).connector.state, 'RUNNING');
        return name;
      }),
    );
    assert.ok((await unhandled('owned')) >= before + names.length);
    const [name = ''] = names;
    const config = { 'connector.class': 'UnrulySource', topic: name };
    assert.equal((await worker.rest.put(`/connectors/${name}/config`, config)).status, 200);
    await worker.rest.untilState(name, 'RUNNING', 1);
  });

  it('makes the connector that caused it FAILED', async () => {
    const name = await create({ 'connector.does': 'timer' });
    const { connector } = await until(async () => {
      const status = await worker.rest.status(name);
      return status.connector.state === 'FAILED' && status;
    }, 'the connector fails');
    assert.match(connector.trace ?? '', new RegExp(`Unhandled error in the code of connector ${name}`));
    assert.match(connector.trace ?? '', /thrown in a timer/);
  });

  it('is logged and counted if its cause is unknown', async () => {
    const before = await unhandled('unknown');
    await create({ 'task.does': 'microtask' });
    await until(async () => (await unhandled('unknown')) === before + 1, 'it is counted');
    await until(() => /thrown in a microtask.*it is not known which task/.test(worker.log), 'it is logged');
  });
});
