import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { builtCli } from '../support/worker-build.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const LEAKED = 'jdbc:a-secret-that-leaked';

describe('sluice history', () => {
  let worker: WorkerProcess;
  let kafka: KafkaTraffic;
  let cli: string;

  before(async () => {
    [worker, kafka, cli] = await Promise.all([WorkerProcess.start(), KafkaTraffic.shared(), builtCli()]);
  });
  after(() => worker.discard());

  const run = async (...args: string[]) => {
    const child = spawn(process.execPath, [cli, 'history', ...args, '--url', worker.url]);
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
    }
    const [code] = (await once(child, 'close')) as [number];
    return { code, printed };
  };

  it('lists changes, shows one, restores a configuration; and with a shorter retention, a leaked value is removed from the topic', async () => {
    const topic = uniqueName('changes');
    const name = uniqueName('changes');
    await kafka.createTopic(topic);
    const config = { name, 'connector.class': 'FileStreamSink', topics: topic, file: '/dev/null' };
    await worker.rest.create(name, { ...config, note: LEAKED });
    assert.equal((await worker.rest.put(`/connectors/${name}/config`, { ...config, file: '/dev/zero' })).status, 200);
    const list = await run(name);
    assert.equal(list.code, 0, list.printed);
    const [newest = '', oldest = '', ...others] = list.printed.trimEnd().split('\n');
    assert.deepEqual(others, []);
    const form = (what: string, keys: string) =>
      new RegExp(`^ +(\\d+)  20\\S+Z  ${what} by at 127\\.0\\.0\\.1 on worker \\S+:\\d+, RUNNING: ${keys}$`);
    assert.match(newest, form('changed', 'file, note'));
    assert.match(oldest, form('created', 'connector\\.class, file, name, note, topics'));
    const [changed = '', created = ''] = [newest, oldest].map((line) => /\d+/.exec(line)?.[0]);
    const shown = await run(name, 'show', changed);
    assert.equal(shown.printed, `${newest}\n    ~ file: "/dev/null" -> "/dev/zero"\n    - note: "${LEAKED}"\n`);
    const restored = await run(name, 'restore', created);
    assert.deepEqual(restored, {
      code: 0,
      printed: `${name} has the configuration of change ${created} again\n`,
    });
    const { body } = await worker.rest.get<Record<string, string>>(`/connectors/${name}/config`);
    assert.deepEqual([body['file'], body['note']], ['/dev/null', LEAKED]);
    const asJson = await run(name, '--json');
    assert.equal((JSON.parse(asJson.printed) as unknown[]).length, 3);
    for (const [args, text] of [
      [[name, 'show'], 'needs the number of a change'],
      [[name, 'show', '999999'], 'has no change 999999'],
      [[name, 'restore', '999999'], 'has no change 999999'],
      [['never-was'], 'Connector never-was not found'],
    ] as const) {
      const wrong = await run(...args);
      assert.deepEqual([wrong.code, wrong.printed.includes(text)], [1, true], wrong.printed);
    }

    assert.equal((await worker.rest.put(`/connectors/${name}/config`, config)).status, 200);
    await worker.terminate();
    await worker.start({ 'history.max.changes': '1' });
    /** The records that remain once the topic has been compacted. */
    const kept = async () => {
      const records = await kafka.all(`${worker.properties['config.storage.topic'] ?? ''}-sluice`);
      return new Map(records.map(({ key, value }) => [key?.toString(), value?.toString()]));
    };
    await until(async () => ![...(await kept()).values()].some((text) => text?.includes(LEAKED)), 'it is gone');
    assert.equal((await run(name)).printed.trimEnd().split('\n').length, 1);
    assert.equal((await run(name, 'restore', created)).code, 1);
  });
});
