import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileSinkTask } from '../../../plugins/file-stream/file-sink-task.ts';
import { FileSourceTask } from '../../../plugins/file-stream/file-source-task.ts';
import { LineSplitter } from '../../../plugins/file-stream/line-splitter.ts';
import { fileSink, fileSource } from '../../../plugins/file-stream/plugin.ts';
import {
  silentLogger,
  type SinkRecord,
  type SinkTaskContext,
  type SourceCoordinates,
  type SourceRecord,
  type SourceTaskContext,
} from '../../../src/index.ts';

function lines(pieces: readonly (string | Uint8Array)[]): (readonly [string, number])[] {
  const splitter = new LineSplitter();
  const found: (readonly [string, number])[] = [];
  for (const piece of pieces) {
    splitter.push(Buffer.from(piece));
    for (let line = splitter.next(); line !== undefined; line = splitter.next()) found.push([line.text, line.bytes]);
  }
  return found;
}

describe('lines of a file', () => {
  it('end at \\n, \\r\\n and \\r, and know their bytes', () => {
    assert.deepEqual(lines(['a\nbb\r\n\rä€\n']), [
      ['a', 2],
      ['bb', 4],
      ['', 1],
      ['ä€', 6],
    ]);
  });

  it('without an end are kept until it arrives, in any pieces', () => {
    const text = Buffer.from('one\r\ntwo ä\nthree\r');
    const single = Array.from(text, (_, at) => text.subarray(at, at + 1));
    assert.deepEqual(lines(single), [
      ['one', 5],
      ['two ä', 7],
    ]);
    assert.deepEqual(lines(['three\r', 'x\n']), [
      ['three', 6],
      ['x', 2],
    ]);
  });

  it('may be longer than one read', () => {
    const long = 'x'.repeat(5000);
    assert.deepEqual(lines([long.slice(0, 3000), `${long.slice(3000)}\nend\n`]), [
      [long, 5001],
      ['end', 4],
    ]);
  });
});

describe('the file connectors', () => {
  let folder: string;
  const abort = new AbortController();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-file-stream-'));
  });

  after(async () => {
    abort.abort();
    await rm(folder, { recursive: true, force: true });
  });

  function sourceContext(config: Record<string, string>, stored: SourceCoordinates | null = null): SourceTaskContext {
    return {
      connectorName: 'files',
      taskIndex: 0,
      config: { topic: 't', ...config },
      logger: silentLogger,
      signal: abort.signal,
      offset: () => Promise.resolve(stored),
    };
  }

  const seen = (records: readonly SourceRecord[]) =>
    records.map(({ value, sourceOffset }) => [value, sourceOffset['position']]);

  it('read a file as it grows, with the bytes read as positions', async () => {
    const file = join(folder, 'grows');
    await writeFile(file, 'first\nä€\nno end');
    const task = new FileSourceTask();
    await task.start(sourceContext({ file }));
    const records = await task.poll();
    assert.deepEqual(seen(records), [
      ['first', 6],
      ['ä€', 12],
    ]);
    const [record] = records;
    assert.deepEqual(
      [record?.topic, record?.partition, record?.key, record?.keySchema, record?.valueSchema?.type],
      ['t', null, null, null, 'string'],
    );
    assert.deepEqual(record?.sourcePartition, { filename: file });
    assert.deepEqual(await task.poll(), []);
    await appendFile(file, ' yet\n');
    assert.deepEqual(seen(await task.poll()), [['no end yet', 23]]);
    await task.stop();
  });

  it('continue at the stored position, at most batch.size lines at a time', async () => {
    const file = join(folder, 'resumed');
    await writeFile(file, 'ä\nb\nc\nd\n');
    const task = new FileSourceTask();
    await task.start(sourceContext({ file, 'batch.size': '2' }, { position: 3 }));
    assert.deepEqual(seen(await task.poll()), [
      ['b', 5],
      ['c', 7],
    ]);
    assert.deepEqual(seen(await task.poll()), [['d', 9]]);
    await task.stop();
  });

  it('wait at a stored position that no file reaches, as of a Long that a number cannot represent', async () => {
    const file = join(folder, 'short');
    await writeFile(file, 'a\n');
    const task = new FileSourceTask();
    await task.start(sourceContext({ file }, { position: 2n ** 63n - 1n }));
    assert.deepEqual(await task.poll(), []);
    await task.stop();
  });

  it('wait for a file that does not exist yet', async () => {
    const file = join(folder, 'later');
    const task = new FileSourceTask();
    await task.start(sourceContext({ file }));
    assert.deepEqual(await task.poll(), []);
    await writeFile(file, 'here\n');
    assert.deepEqual(seen(await task.poll()), [['here', 5]]);
    await task.stop();
  });

  it('make one source task and as many sink tasks as allowed', async () => {
    const context = {
      connectorName: 'files',
      logger: silentLogger,
      requestTaskReconfiguration: () => undefined,
      raiseError: () => undefined,
    };
    for (const [plugin, count] of [
      [fileSource, 1],
      [fileSink, 3],
    ] as const) {
      const connector = plugin.createConnector({});
      await connector.start({ topic: 't', topics: 't', file: 'f' }, context);
      assert.equal((await connector.taskConfigs(3)).length, count);
      await connector.stop();
    }
  });

  it('write the text of each value as a line', async () => {
    const file = join(folder, 'written');
    await writeFile(file, 'before\n');
    const task = new FileSinkTask();
    await task.start({ config: { file } } as unknown as SinkTaskContext);
    const record = (value: SinkRecord['value']) => ({ value, valueSchema: null }) as SinkRecord;
    await task.put([record('text'), record(null), record(new Map([['a', 1n]]))]);
    await task.stop();
    assert.equal(await readFile(file, 'utf8'), 'before\ntext\nnull\n{a=1}\n');
  });

  it('refuse invalid offsets with the Java connector’s message, and allow the removal of any', async () => {
    const config = { file: 'f', topic: 't' };
    const alter = async (partition: SourceCoordinates | null, offset: SourceCoordinates | null) =>
      fileSource.alterOffsets?.(config, [{ partition, offset }]);
    assert.equal(await alter({ filename: 'f' }, { position: 3 }), true);
    assert.equal(await alter({ filename: 'f' }, { position: 2n ** 63n - 1n }), true);
    assert.equal(await alter({ anything: 1 }, null), true);
    for (const [partition, offset, message] of [
      [{ filename: 'f' }, { x: 1 }, "Offset objects should either be null or contain the key 'position'"],
      [{ filename: 'f' }, { position: 'abc' }, /is expected to be a Long value$/],
      [{ filename: 'f' }, { position: 2n ** 63n }, /is expected to be a Long value$/],
      [{ filename: 'f' }, { position: -1 }, /should be a non-negative value$/],
      [null, { position: 1 }, 'Partition objects cannot be null'],
      [{ other: 'f' }, { position: 1 }, "Partition objects should contain the key 'filename'"],
    ] as const) {
      await assert.rejects(alter(partition, offset), { message });
    }
    await assert.rejects(async () => fileSource.alterOffsets?.({ topic: 't' }, []), {
      message: /^Offsets cannot be modified if the 'file' configuration is unspecified\./,
    });
  });
});
