import assert from 'node:assert/strict';
import { refusals } from '../../../plugins/db-sink/refusals.ts';
import { WaitingRecords } from '../../../plugins/db-sink/waiting-records.ts';
import type { Fault } from '../../../src/data/fault.ts';
import type { SinkRecordBlock } from '../../../src/data/message-block.ts';

/** A block that counts how often its offsets are read. */
function countedBlock(count: number): { block: SinkRecordBlock; reads: () => number } {
  let reads = 0;
  const offsets = new Proxy(
    Array.from({ length: count }, (_, index) => index * 2),
    {
      get(target, key) {
        reads += 1;
        return Reflect.get(target, key) as unknown;
      },
    },
  );
  const block = {
    hold: () => undefined,
    release: () => undefined,
    messages: { topic: 't', partition: 0, count, offsets, valueStarts: [], valueEnds: [] },
    sinkRecord: (index: number) => ({ consumed: { topic: 't', partition: 0, offset: index * 2 } }),
  } as unknown as SinkRecordBlock;
  return { block, reads: () => reads };
}

const fault = (offset: number): Fault => ({
  ...{ scope: 'record', message: `no ${String(offset)}` },
  origin: { kind: 'record', topic: 't', partition: 0, offset },
});

describe('records that are refused', () => {
  it('are found in time proportional to their number (S12)', async () => {
    const count = 5_000;
    const { block, reads } = countedBlock(count);
    const records = new WaitingRecords();
    records.addBlock(block, 0, count);
    const faults = Array.from({ length: count }, (_, index) => fault((count - 1 - index) * 2));
    const refused = await refusals(records, faults);
    assert.deepEqual(
      refused.map(([{ consumed }, error]) => [consumed.offset, error.message]),
      Array.from({ length: count }, (_, index) => [index * 2, `no ${String(index * 2)}`]),
    );
    assert.ok(reads() < 30 * count, `${String(reads())} reads of offsets for ${String(count)} records`);
  });

  it('are found among records added in the meantime', () => {
    const records = new WaitingRecords();
    records.addBlock(countedBlock(20).block, 0, 10);
    const holds = (offset: number): boolean => records.holds(fault(offset).origin);
    for (let round = 0; round < 20; round++) assert.ok(!holds(20));
    records.addBlock(countedBlock(20).block, 10, 20);
    assert.ok(holds(20));
    assert.ok(holds(0));
    assert.ok(!holds(40));
    assert.ok(!holds(1));
  });
});
