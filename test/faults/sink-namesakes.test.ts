import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kafka, logLevel } from 'kafkajs';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { broker, uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

/** Two at the same time. */
const SLOW = { readyTimeoutMs: 60_000 };
const REMOVED = 'Removed the stale group member of a previous instance';

describe('connectors of one name in two Connect clusters of one Kafka (L9)', function () {
  const name = uniqueName('namesake');
  const topic = uniqueName('namesake_rows');
  let kafka: KafkaTraffic;
  let workers: readonly [WorkerProcess, WorkerProcess];
  let files: readonly string[];

  before(async () => {
    [workers, kafka] = await Promise.all([
      Promise.all([WorkerProcess.start(SLOW), WorkerProcess.start(SLOW)] as const),
      KafkaTraffic.shared(),
    ]);
    files = workers.map((_worker, index) => join(tmpdir(), `${name}-${String(index)}`));
    await kafka.createTopic(topic, 2);
  });

  after(async () => {
    await Promise.all(workers.map((worker) => worker.discard()));
    await Promise.all(files.map((file) => rm(file, { force: true })));
  });

  /** Ids of the members when the group is stable and has this number of them. */
  async function members(count: number): Promise<readonly string[]> {
    const { bootstrapServers } = await broker();
    const admin = new Kafka({ brokers: [bootstrapServers], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    try {
      return await until(
        async () => {
          const [group] = (await admin.describeGroups([`connect-${name}`])).groups;
          const isReady = group?.state === 'Stable' && group.members.length === count;
          return isReady ? group.members.map(({ memberId }) => memberId).sort() : undefined;
        },
        `the group has ${String(count)} members`,
      );
    } finally {
      await admin.disconnect();
    }
  }

  async function lines(): Promise<readonly string[]> {
    const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
    return texts.flatMap((text) => text.split('\n').filter((line) => line !== ''));
  }

  async function sendAndRead(from: number, count: number): Promise<void> {
    const numbers = Array.from({ length: count }, (_none, index) => String(from + index));
    await kafka.produce(
      topic,
      numbers.map((value) => ({ value, key: value })),
    );
    await until(async () => (await lines()).length >= from + count, `${String(from + count)} lines`);
    assert.equal((await lines()).length, from + count, 'each record once');
  }

  it('share the topic as members of one group, and neither is removed from it', async () => {
    for (const [index, worker] of workers.entries()) {
      const config = { 'connector.class': 'FileStreamSink', topics: topic, file: files[index] ?? '' };
      await worker.rest.create(name, config);
      await members(index + 1);
    }
    const before = await members(2);
    await sendAndRead(0, 200);
    assert.deepEqual(await members(2), before);
    for (const { log } of workers) assert.doesNotMatch(log, new RegExp(REMOVED));
  });

  it('a worker that was killed removes its own member at once when it returns, and no other', async () => {
    const [killed, other] = workers;
    const before = await members(2);
    await killed.kill();
    await killed.start();
    await until(() => killed.log.includes(REMOVED) || undefined, 'the member that was left is removed');
    const after = await members(2);
    assert.equal(after.filter((member) => before.includes(member)).length, 1);
    assert.doesNotMatch(other.log, new RegExp(REMOVED));
  });
});
