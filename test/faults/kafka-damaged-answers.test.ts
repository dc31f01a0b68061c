import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import type { Consumer } from '../../src/kafka/api.ts';
import { MalformedResponseError, RecordFormatError } from '../../src/kafka/errors/kafka-errors.ts';
import { crc32c } from '../../src/kafka/records/crc32c.ts';
import { BatchField } from '../../src/kafka/records/record-batch.ts';
import { damagedAnswers } from '../properties/damaged-answers.ts';
import { recordAnswers } from '../support/broker-answers.ts';
import { KafkaProxy } from '../support/kafka-proxy.ts';
import { broker, uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import {
  newTopic,
  pollUntil,
  produceNumbers,
  rebalanceLog,
  record,
  recordingLogger,
  sharedClient,
  values,
} from '../integration/kafka-fixture.ts';

const ApiKey = { fetch: 1, listOffsets: 2, metadata: 3, joinGroup: 11 } as const;
const VALUE = 'this value stands once';
/** Length, attributes, two deltas, two lengths, of a byte each. */
const BEFORE_VALUE = 6;
/** The broker's length of the answer, and the correlation id. */
const FRAME_HEADER = 8;

/** A fetch answer with the batch of VALUE changed, its checksum made right. */
function withBatch(answer: Buffer, change: (batch: Buffer) => void): Buffer | undefined {
  const value = answer.indexOf(VALUE);
  if (value < 0) return undefined;
  const batch = answer.subarray(value - BEFORE_VALUE - BatchField.records);
  const end = 12 + batch.readInt32BE(BatchField.length);
  change(batch);
  batch.writeUInt32BE(crc32c(batch, BatchField.attributes, end), BatchField.crc);
  return answer;
}

/** An answer with a field of four bytes after its header changed. */
function withInt32(answer: Buffer, at: number, value: number): Buffer {
  answer.writeInt32BE(value, FRAME_HEADER + at);
  return answer;
}

/** The same of a count in a flexible version, which is a varint. */
function withVarint(answer: Buffer, at: number): Buffer {
  Buffer.from([0xff, 0xff, 0xff, 0xff, 0x07]).copy(answer, FRAME_HEADER + at);
  return answer;
}

describe('damaged answers of a broker (S9)', function () {
  let proxy: KafkaProxy;
  let topic: string;
  let consumer: Consumer;
  let lines: ReturnType<typeof recordingLogger>['lines'];

  before(async () => {
    proxy = await KafkaProxy.start((await broker()).bootstrapServers);
    const client = await sharedClient();
    topic = await newTopic(client);
    const producer = client.producer();
    await producer.send([record(topic, VALUE)]);
    await producer.close();
  });

  after(() => proxy.close());

  function open(groupId?: string): Consumer {
    const logged = recordingLogger();
    lines = logged.lines;
    const properties = { 'bootstrap.servers': proxy.bootstrapServers, 'auto.offset.reset': 'earliest' };
    const group: Record<string, string> = groupId === undefined ? {} : { 'group.id': groupId };
    consumer = createKafkaClient({ ...properties, ...group }, logged.logger).consumer();
    if (groupId === undefined) consumer.assign([{ topic, partition: 0 }]);
    else consumer.subscribe([topic], rebalanceLog());
    return consumer;
  }

  afterEach(async () => {
    proxy.pass();
    await consumer.close(5_000);
  });

  async function failure(): Promise<unknown> {
    return pollUntil(consumer, () => false).catch((error: unknown) => error);
  }

  async function comesNow(): Promise<void> {
    proxy.pass();
    assert.deepEqual(values(await pollUntil(consumer, (records) => records.length > 0)), [VALUE]);
  }

  for (const [what, change, message] of [
    [
      'a batch of -12 bytes',
      (batch: Buffer) => batch.writeInt32BE(-12, BatchField.length),
      'the batch length -12 is smaller than its header',
    ],
    [
      'a batch of -1 records',
      (batch: Buffer) => batch.writeInt32BE(-1, BatchField.recordCount),
      'the batch has -1 records',
    ],
  ] as const) {
    it(`${what} is an error that names topic, partition and offset; undamaged, it is read`, async () => {
      open();
      proxy.change((answer, apiKey) => (apiKey === ApiKey.fetch ? withBatch(answer, change) : undefined));
      const error = await failure();
      assert.ok(error instanceof RecordFormatError, String(error));
      assert.equal(error.message, `Topic ${topic}, partition 0, offset 0: ${message}`);
      await comesNow();
    });
  }

  for (const [what, api, damage, name] of [
    ['a fetch answer with 2^31 topics', ApiKey.fetch, (answer: Buffer) => withVarint(answer, 11), 'Fetch'],
    [
      'a list of offsets with 2^31 topics',
      ApiKey.listOffsets,
      (answer: Buffer) => withInt32(answer, 4, 2 ** 31 - 1),
      'ListOffsets',
    ],
    ['metadata of 2^31 brokers', ApiKey.metadata, (answer: Buffer) => withVarint(answer, 5), 'Metadata'],
  ] as const) {
    it(`${what} is an error that names broker and request`, async () => {
      open();
      proxy.change((answer, apiKey) => (apiKey === api ? damage(answer) : undefined));
      const error = await failure();
      assert.ok(error instanceof MalformedResponseError, String(error));
      const said = new RegExp(
        `^Broker 127\\.0\\.0\\.1:\\d+: the response to ${name} \\(version \\d+\\) is malformed: invalid list length 214748364[67]`,
      );
      assert.match(error.message, said);
      await comesNow();
    });
  }

  it('an answer to the joining of a group fails the consumer, not the process', async () => {
    open(uniqueName('damaged'));
    // throttle time, error code, generation, then the name of the protocol
    proxy.change((answer, apiKey) => {
      if (apiKey === ApiKey.joinGroup) answer.writeInt16BE(-7, FRAME_HEADER + 10);
      return answer;
    });
    assert.match(String(await failure()), /the response to JoinGroup \(version \d+\) is malformed/);
    await comesNow();
  });

  it('an answer with another correlation id breaks the connection, and the request is sent again', async () => {
    open();
    let changes = 0;
    proxy.change((answer, apiKey) => {
      if (apiKey !== ApiKey.fetch || changes > 0) return undefined;
      changes += 1;
      answer.writeInt32BE(answer.readInt32BE(4) + 1, 4);
      return answer;
    });
    assert.deepEqual(values(await pollUntil(consumer, (records) => records.length > 0)), [VALUE]);
    assert.ok(
      lines.some(({ reason }) =>
        /Received a response with correlation id \d+, but \d+ \(Fetch\) was expected/.test(String(reason)),
      ),
    );
  });

  it('whatever byte of a real answer is changed, it is an error or well-formed', async () => {
    const answers = await recordAnswers(async (client) => {
      const other = await newTopic(client, 2);
      await produceNumbers(client, other, { count: 20, partitions: 2 });
      consumer = client.consumer({ 'group.id': uniqueName('answers'), 'auto.offset.reset': 'earliest' });
      consumer.subscribe([other], rebalanceLog());
      const read = await pollUntil(consumer, (records) => records.length === 20);
      await consumer.commit(
        read.map(({ topic: of, partition, offset }) => ({ topic: of, partition, offset: offset + 1 })),
      );
    });
    const names = new Set(answers.map(({ name }) => name));
    for (const name of ['Metadata', 'Fetch', 'JoinGroup', 'OffsetFetch', 'ListOffsets', 'Produce'])
      assert.ok(names.has(name), name);
    await damagedAnswers(answers, { inputs: 1_500, seed: 9 });
  });
});

describe('a sink task whose topic is damaged at the broker (S9)', function () {
  let proxy: KafkaProxy;
  let worker: WorkerProcess;

  before(async () => {
    proxy = await KafkaProxy.start((await broker()).bootstrapServers);
    worker = await WorkerProcess.start({ properties: { 'consumer.bootstrap.servers': proxy.bootstrapServers } });
  });

  after(async () => {
    await worker.discard();
    await proxy.close();
  });

  it('is FAILED with the damage and its place; other tasks continue, and a restart reads the repaired topic', async () => {
    const client = await sharedClient();
    const [damaged, whole] = [await newTopic(client), await newTopic(client)];
    const producer = client.producer();
    await producer.send([record(damaged, VALUE), record(whole, 'another')]);
    proxy.change((answer, apiKey) =>
      apiKey === ApiKey.fetch
        ? withBatch(answer, (batch) => batch.writeInt32BE(-1, BatchField.recordCount))
        : undefined,
    );
    const create = async (topics: string): Promise<string> => {
      const name = uniqueName('damaged-sink');
      const file = join(tmpdir(), name);
      await worker.rest.create(name, { 'connector.class': 'FileStreamSink', topics, file });
      return name;
    };
    const [bad, good] = [await create(damaged), await create(whole)];
    const trace = await until(async () => (await worker.rest.status(bad)).tasks[0]?.trace, `${bad} has failed`);
    assert.match(trace, new RegExp(`Topic ${damaged}, partition 0, offset 0: the batch has -1 records`));
    const admin = client.admin();
    const done = async (name: string, of: string): Promise<boolean | undefined> => {
      const [position] = await admin.groupOffsets(`connect-${name}`);
      return (position?.topic === of && position.offset >= 1) || undefined;
    };
    await until(() => done(good, whole), `${good} has read its topic`);
    assert.equal((await worker.rest.status(good)).tasks[0]?.state, 'RUNNING');
    proxy.pass();
    await worker.rest.post(`/connectors/${bad}/tasks/0/restart`);
    await until(() => done(bad, damaged), `${bad} has read its topic`);
    await Promise.all([producer.close(), admin.close()]);
  });
});
