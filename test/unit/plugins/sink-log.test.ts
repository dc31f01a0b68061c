import assert from 'node:assert/strict';
import { pino } from 'pino';
import type { SinkRecord } from '../../../src/index.ts';
import { SinkLog } from '../../../plugins/db-sink/sink-log.ts';
import { WaitingRecords } from '../../../plugins/db-sink/waiting-records.ts';

function recordAt(topic: string, partition: number, offset: number): SinkRecord {
  return { consumed: { topic, partition, offset } } as unknown as SinkRecord;
}

describe('the debug log of a sink', () => {
  const entries: Record<string, unknown>[] = [];
  const loggerOf = (level: string) =>
    pino({ level, base: null, timestamp: false }, { write: (line) => void entries.push(JSON.parse(line) as never) });

  beforeEach(() => entries.splice(0));

  it('has one entry per put, with the offsets of each partition', () => {
    const log = new SinkLog(loggerOf('debug'));
    log.put([recordAt('t', 0, 5), recordAt('t', 0, 6), recordAt('u', 1, 9)]);
    log.put([]);
    log.putBlock({ topic: 't', partition: 0 }, [7, 8, 12]);
    assert.deepEqual(entries, [
      {
        level: 20,
        records: 3,
        firstOffsets: { 't/0': 5, 'u/1': 9 },
        endOffsets: { 't/0': 7, 'u/1': 10 },
        msg: 'Received records',
      },
      { level: 20, records: 3, firstOffsets: { 't/0': 7 }, endOffsets: { 't/0': 13 }, msg: 'Received records' },
    ]);
  });

  it('has the tables and offsets of each batch, and the offsets to commit', () => {
    const log = new SinkLog(loggerOf('debug'));
    const records = new WaitingRecords();
    records.add(recordAt('t', 0, 5));
    const table = { name: 'meters' };
    const batch = { records, decoded: { rows: [{ batch: { table, rowCount: 2 } }], faults: [] } as never };
    log.written(batch, 12.4);
    log.committing([{ topic: 't', partition: 0, offset: 6 }], false);
    const offsets = { firstOffsets: { 't/0': 5 }, endOffsets: { 't/0': 6 } };
    assert.deepEqual(entries, [
      { level: 20, records: 1, tables: { meters: 2 }, statements: 0, ...offsets, ms: 12, msg: 'Wrote a batch' },
      { level: 20, offsets: { 't/0': 6 }, flush: false, msg: 'Returned offsets to commit' },
    ]);
  });

  it('is empty at level info', () => {
    const log = new SinkLog(loggerOf('info'));
    log.put([recordAt('t', 0, 5)]);
    log.committing([], true);
    assert.deepEqual(entries, []);
  });
});
