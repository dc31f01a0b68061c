import assert from 'node:assert/strict';
import { OwnStore } from '../../../src/herder/stores/own-store.ts';
import { MemoryLog, type LogRecord } from '../../../src/herder/stores/record-log.ts';
import { silentLogger } from '../../../src/observe/logger.ts';

class MissingTopic extends MemoryLog {
  override start(): Promise<void> {
    return Promise.reject(new Error('not authorized'));
  }

  override sendAll(): Promise<void> {
    return Promise.reject(new Error('not started'));
  }
}

describe('the store of state that Kafka Connect does not have', () => {
  const opened = async () => {
    const store = new OwnStore((onRecord) => new MemoryLog(onRecord), silentLogger);
    await store.start();
    return store;
  };

  it('returns the last value of a key and the entries of a prefix, and notifies listeners of each change', async () => {
    const store = await opened();
    const told: unknown[] = [];
    const end = store.onChange((key, value) => told.push([key, value]));
    await store.put('a/1', { n: 1 });
    await store.put('a/1', { n: 2 });
    await store.put('a/2', { n: 3 });
    await store.put('b/1', { n: 4 });
    await store.put('a/2', null);
    end();
    await store.put('b/2', { n: 5 });
    assert.deepEqual(store.get('a/1'), { n: 2 });
    assert.equal(store.get('a/2'), undefined);
    assert.deepEqual(store.entries('b/'), [
      ['b/1', { n: 4 }],
      ['b/2', { n: 5 }],
    ]);
    assert.deepEqual(told, [
      ['a/1', { n: 1 }],
      ['a/1', { n: 2 }],
      ['a/2', { n: 3 }],
      ['b/1', { n: 4 }],
      ['a/2', null],
    ]);
  });

  it('refuses values beyond 256 kB', async () => {
    const store = await opened();
    await assert.rejects(store.put('a', { text: 'x'.repeat(256 * 1024) }), /The entry a has 262155 bytes/);
    assert.equal(store.get('a'), undefined);
  });

  it('ignores records that are no JSON objects', () => {
    let tell: (record: LogRecord) => void = () => undefined;
    const store = new OwnStore((onRecord) => {
      tell = onRecord;
      return new MemoryLog(onRecord);
    }, silentLogger);
    for (const value of ['{', '[]', '1', 'null']) tell({ key: Buffer.from('a'), value: Buffer.from(value) });
    assert.deepEqual(store.entries(''), []);
  });

  it('works in memory when its topic cannot be used', async () => {
    const store = new OwnStore((onRecord) => new MissingTopic(onRecord), silentLogger);
    await store.start();
    await store.put('a', { n: 1 });
    assert.deepEqual(store.get('a'), { n: 1 });
    await store.stop();
  });
});
