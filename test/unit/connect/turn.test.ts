import assert from 'node:assert/strict';
import { SinkRecordConverter } from '../../../src/connect/pipeline/record-converter.ts';
import type { Converters } from '../../../src/connect/pipeline/record-converter.ts';
import { TransformationChain } from '../../../src/connect/pipeline/transformation-chain.ts';
import { Turn } from '../../../src/connect/pipeline/turn.ts';
import type { ErrorPolicy } from '../../../src/connect/pipeline/error-policy.ts';
import type { SinkRecordBlock } from '../../../src/data/message-block.ts';
import type { ConsumedRecord } from '../../../src/kafka/api.ts';
import { BatchRows } from '../../../plugins/db-sink/batch-rows.ts';
import { WriteLane } from '../../../plugins/db-sink/write-lane.ts';

const BYTES = 65_536;

/** Takes the processor for so long. */
function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

/** In place of the process's clock: always the same time. */
class CountedClock {
  reads = 0;
  readonly #own = Object.getOwnPropertyDescriptor(performance, 'now');

  constructor(nowMs: number) {
    Object.defineProperty(performance, 'now', { configurable: true, value: () => ((this.reads += 1), nowMs) });
  }

  restore(): void {
    if (this.#own === undefined) Reflect.deleteProperty(performance, 'now');
    else Object.defineProperty(performance, 'now', this.#own);
  }
}

/** Counts turns of the event loop while something runs. */
async function turnsOf<T>(run: () => Promise<T>): Promise<{ result: T; turns: number }> {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const result = await run();
  isDone = true;
  return { result, turns };
}

function sinkConverter(toConnectData: () => void): SinkRecordConverter {
  const each = {
    toConnectData: (_topic: string, bytes: Uint8Array | null) => {
      toConnectData();
      return { schema: null, value: bytes };
    },
  };
  const converters = { key: { toConnectData: () => ({ schema: null, value: null }) }, value: each };
  return new SinkRecordConverter(
    converters as unknown as Converters,
    new TransformationChain([]),
    undefined as unknown as ErrorPolicy,
  );
}

function consumed(count: number, bytes: number): ConsumedRecord[] {
  const value = Buffer.alloc(bytes);
  return Array.from({ length: count }, (_, offset) => ({
    ...{ topic: 't', partition: 0, offset, timestamp: 0, timestampType: 'CreateTime' },
    ...{ key: null, value, headers: [] },
  }));
}

describe('work on many records', () => {
  it('that are large is done in slices, in order, while others get turns', async () => {
    const converter = sinkConverter(() => {
      work(1);
    });
    const { result, turns } = await turnsOf(() => converter.convert(consumed(200, BYTES)));
    assert.deepEqual(
      result.records.map(({ offset }) => offset),
      Array.from({ length: 200 }, (_, offset) => offset),
    );
    assert.ok(turns >= 5, `${String(turns)} turns for 200 ms of work`);
  });

  it('that are small and quick is one turn of the event loop, for which the clock is read a few times in 128 records', async () => {
    const clock = new CountedClock(5);
    try {
      const { turns } = await turnsOf(() => sinkConverter(() => undefined).convert(consumed(1_280, 0)));
      assert.equal(turns, 0);
      // Once for the turn, and for one record before and behind each stage.
      assert.ok(clock.reads <= 41, `the clock was read ${String(clock.reads)} times`);
    } finally {
      clock.restore();
    }
  });

  it('of several tasks shares the turn, and all continue in order', async () => {
    const order: string[] = [];
    const task = async (name: string): Promise<void> => {
      const turn = new Turn();
      for (let round = 1; round <= 3; round++) {
        work(21);
        order.push(`${name}${String(round)}`);
        if (turn.isOver(1_000_000)) await turn.next();
      }
    };
    const { turns } = await turnsOf(() => Promise.all([task('a'), task('b')]));
    assert.deepEqual(order, ['a1', 'b1', 'a2', 'b2', 'a3', 'b3']);
    assert.ok(turns >= 5, `${String(turns)} turns`);
  });

  it('in a block is decoded in slices and written in batches of a bounded size, and what is added goes out at the end', async () => {
    const count = 200;
    const slices: number[] = [];
    const batches: number[] = [];
    let rows = 0;
    const lane = new WriteLane(
      () => ({
        get rowCount() {
          return rows;
        },
        add: () => undefined,
        addBlock: (_block, from, to) => {
          work(5);
          slices.push(to - from);
          rows += to - from;
          return to;
        },
        take: () => {
          if (rows > 0) batches.push(rows);
          rows = 0;
          return { rows: [], statements: [], faults: [] };
        },
      }),
      { kind: 'parts', write: () => Promise.resolve([]) },
      () => Promise.resolve(),
      new BatchRows(10_000, false),
      { onFailure: () => undefined, onTablesChanged: () => undefined },
    );
    const place = { topic: 't', partition: 0, count };
    const block = {
      hold: () => undefined,
      release: () => undefined,
      messages: {
        ...place,
        offsets: Array.from({ length: count }, (_, index) => index),
        valueStarts: Array.from({ length: count }, (_, index) => index * BYTES),
        valueEnds: Array.from({ length: count }, (_, index) => (index + 1) * BYTES),
      },
    } as unknown as SinkRecordBlock;
    const { turns } = await turnsOf(() => lane.addBlock(block));
    assert.equal(batches.length, 1, 'no batch goes out before it is full or all is added');
    assert.ok((batches[0] ?? 0) * BYTES < 8_388_608 + 262_144, `a batch of ${String(batches[0])} messages`);
    lane.start();
    await lane.flush(5_000);
    assert.ok(Math.max(...slices) * BYTES <= 262_144, `slices of ${String(slices)}`);
    assert.ok(turns >= 5, `${String(turns)} turns for ${String(slices.length)} slices`);
    assert.equal(
      batches.reduce((sum, each) => sum + each, 0),
      count,
    );
    assert.deepEqual(batches.length, 2);
  });
});
