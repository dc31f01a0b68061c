import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { TopicPartition } from '../../../src/data/record.ts';
import type { ConsumedRecord } from '../../../src/kafka/api.ts';
import {
  decodeAssignment,
  decodeSubscription,
  encodeAssignment,
  encodeSubscription,
} from '../../../src/kafka/consumer/consumer-protocol.ts';
import { RecordSet } from '../../../src/kafka/records/record-set.ts';

/** Written by kafka-clients 4.3.1: ConsumerProtocol's messages, and one batch of the same records per codec. */
interface JavaBytes {
  readonly subscriptions: readonly { readonly version: number; readonly base64: string }[];
  readonly assignments: readonly { readonly version: number; readonly base64: string }[];
  readonly batches: readonly { readonly compression: string; readonly base64: string }[];
}

const java = JSON.parse(readFileSync(new URL('./java-client-bytes.json', import.meta.url), 'utf8')) as JavaBytes;
const bytesOf = ({ base64 }: { base64: string }): Buffer => Buffer.from(base64, 'base64');

function newestOf<T>(versions: readonly T[]): T {
  const newest = versions.at(-1);
  assert.ok(newest !== undefined);
  return newest;
}

const partitionsOf = (topic: string, ...partitions: number[]): TopicPartition[] =>
  partitions.map((partition) => ({ topic, partition }));

describe('bytes of the Java client', () => {
  for (const subscription of java.subscriptions) {
    it(`a subscription of version ${String(subscription.version)} is decoded`, () => {
      const { version } = subscription;
      assert.deepEqual(decodeSubscription(bytesOf(subscription)), {
        version,
        topics: ['métrics', 'orders'],
        userData: Buffer.from([1, 2, 3]),
        owned: version >= 1 ? partitionsOf('orders', 0, 2) : [],
        generationId: version >= 2 ? 7 : undefined,
        rackId: version >= 3 ? 'rack-1' : undefined,
      });
    });
  }

  it('a subscription is encoded byte for byte like Java’s newest version', () => {
    const { version: _newest, ...subscription } = decodeSubscription(bytesOf(newestOf(java.subscriptions)));
    const again = encodeSubscription({
      ...subscription,
      topics: ['orders', 'métrics'],
      owned: partitionsOf('orders', 2, 0),
    });
    assert.equal(again.toString('base64'), newestOf(java.subscriptions).base64);
  });

  const assigned = [
    { topic: 'orders', partition: 0 },
    { topic: 'orders', partition: 3 },
    { topic: 'métrics', partition: 1 },
  ];
  for (const assignment of java.assignments) {
    it(`an assignment of version ${String(assignment.version)} is decoded`, () => {
      assert.deepEqual(decodeAssignment(bytesOf(assignment)), assigned);
    });
  }

  it('an assignment is encoded byte for byte like Java’s newest version', () => {
    assert.equal(encodeAssignment(assigned).toString('base64'), newestOf(java.assignments).base64);
  });

  it('an empty assignment contains no partitions', () => {
    assert.deepEqual(decodeAssignment(Buffer.alloc(0)), []);
  });

  for (const batch of java.batches) {
    it(`a batch with compression ${batch.compression} is read`, () => {
      const source = { topic: 't', partition: 0, bytes: bytesOf(batch), fetchOffset: 40 };
      const records: ConsumedRecord[] = [];
      assert.equal(
        new RecordSet(source, { checkCrcs: true, aborted: undefined, maxUnpackedBytes: 67_108_864 }).read(records, 10),
        true,
      );
      const text = (value: Buffer | null): string | null => value?.toString() ?? null;
      assert.deepEqual(
        records.map(({ offset, timestamp, key, value }) => [offset, timestamp, text(key), value?.length ?? null]),
        [
          [40, 1_700_000_000_000, 'key-0', 8],
          [41, 1_700_000_001_000, null, 48],
          [42, 1_700_000_002_000, 'key-2', null],
          [43, 1_695_000_003_000, 'key-3', 128],
          [44, 1_700_000_004_000, 'key-4', 168],
          [45, 1_700_000_005_000, 'key-5', 208],
        ],
      );
      assert.deepEqual(records[4]?.headers, [
        { key: 'a', value: Buffer.from('1') },
        { key: 'b', value: null },
        { key: 'a', value: Buffer.from('2') },
      ]);
    });
  }
});
