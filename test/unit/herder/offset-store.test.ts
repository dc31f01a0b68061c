import assert from 'node:assert/strict';
import { MemoryLog, type LogRecord } from '../../../src/herder/stores/record-log.ts';
import { OffsetStore } from '../../../src/herder/stores/offset-store.ts';
import { silentLogger } from '../../../src/observe/logger.ts';

function storeWithLog() {
  const sent: { key: string; value: string | null }[] = [];
  let deliver: (record: LogRecord) => void = () => undefined;
  const store = new OffsetStore((onRecord) => {
    deliver = onRecord;
    return new MemoryLog((record) => {
      sent.push({
        key: Buffer.from(record.key).toString(),
        value: record.value === null ? null : Buffer.from(record.value).toString(),
      });
      onRecord(record);
    });
  }, silentLogger);
  const arrive = (key: string, value: string | null) => {
    deliver({ key: Buffer.from(key), value: value === null ? null : Buffer.from(value) });
  };
  return { store, sent, arrive };
}

describe('source offsets', () => {
  it('are written as Java writes them: a compact JSON key of connector and partition', async () => {
    const { store, sent } = storeWithLog();
    await store.write('files', [{ partition: { filename: '/a.txt' }, offset: { position: 42 } }]);
    assert.deepEqual(sent, [{ key: '["files",{"filename":"/a.txt"}]', value: '{"position":42}' }]);
    assert.deepEqual(await store.read('files', { filename: '/a.txt' }), { position: 42 });
  });

  it('keep 64-bit integers exact', async () => {
    const { store } = storeWithLog();
    await store.write('c', [{ partition: { t: 'x' }, offset: { n: 9223372036854775807n } }]);
    assert.deepEqual(await store.read('c', { t: 'x' }), { n: 9223372036854775807n });
  });

  it('reuse the key bytes found in the topic, so that one partition never has two keys', async () => {
    const { store, sent, arrive } = storeWithLog();
    arrive('["c",{"zebra":1, "apple":"x"}]', '{"n":1}');
    await store.write('c', [{ partition: { apple: 'x', zebra: 1 }, offset: { n: 2 } }]);
    assert.deepEqual(sent, [{ key: '["c",{"zebra":1, "apple":"x"}]', value: '{"n":2}' }]);
  });

  it('order the keys of a new partition as a Java HashMap would', async () => {
    const { store, sent } = storeWithLog();
    await store.write('c', [{ partition: { table: 't', db: 'd', schema: 's' }, offset: { n: 1 } }]);
    assert.equal(sent[0]?.key, '["c",{"schema":"s","table":"t","db":"d"}]');
  });

  it('go away with a tombstone and are listed per connector', async () => {
    const { store } = storeWithLog();
    const partition = { table: 'a' };
    await store.write('c', [{ partition, offset: { n: 1 } }]);
    await store.write('d', [{ partition, offset: { n: 5 } }]);
    await store.write('c', [{ partition, offset: null }]);
    assert.equal(await store.read('c', partition), null);
    assert.deepEqual(await store.list('d'), [{ partition, offset: { n: 5 } }]);
    assert.deepEqual(await store.list('c'), []);
  });

  it('with an unreadable record are still read', async () => {
    const { store, arrive } = storeWithLog();
    arrive('not json', '{}');
    arrive('["c",{"t":1}]', '{"n":3}');
    assert.deepEqual(await store.read('c', { t: 1 }), { n: 3 });
  });
});
