import assert from 'node:assert/strict';
import type { Origin } from '../../../../../src/data/fault.ts';
import type { Cell, RowBatch } from '../../../../../src/data/row-batch.ts';
import { LineLpDecoder } from '../../../../../plugins/database/formats/line-lp/line-lp.ts';
import { nanosBeyondMicros, NanosecondSpread } from '../../../../../plugins/database/formats/nanoseconds.ts';
import { unixMicros } from '../../../../../plugins/database/formats/unix-time.ts';
import { JsonTsdDecoder } from '../../../../../plugins/database/formats/tsd/json-tsd.ts';
import { LineTsdDecoder } from '../../../../../plugins/database/formats/tsd/line-tsd.ts';

const ORIGIN: Origin = { kind: 'line', line: 1 };
const POLICY = { precision: 'ns', now: () => 5, keepsNanoseconds: true } as const;

function cellsOf(batch: RowBatch | undefined, name: string): readonly Cell[] | undefined {
  return batch?.columns.find((column) => column.name === name)?.cells;
}

function linesOf(times: readonly (number | bigint | string)[], series = 'm,h=x'): string {
  return times.map((time) => `${series} a=1 ${String(time)}\n`).join('');
}

/** The times of each line's row, for lines that are one request. */
function spread(lines: string, spreading = new NanosecondSpread()): readonly Cell[] | undefined {
  const decoder = new LineLpDecoder({ ...POLICY, describesTables: true });
  decoder.add(lines, ORIGIN);
  const [rows] = decoder.take().rows;
  assert.ok(rows);
  const { batch, shape } = spreading.apply(rows);
  assert.equal(cellsOf(batch, 'k_nanos'), undefined);
  assert.ok(shape?.columns.every(({ name }) => name !== 'k_nanos'));
  return cellsOf(batch, 'k_timestamp');
}

describe('nanoseconds (L6)', () => {
  it('beyond the floored microsecond make up the whole time', () => {
    for (const nanos of [0n, 1n, 999n, 1000n, 1001n, 1_700_000_000_123_456_789n, -1n, -999n, -1000n, -1001n, -1_500n]) {
      const text = `x${String(nanos)}y`;
      const micros = unixMicros(text, 1, text.length - 1, 'ns');
      const rest = nanosBeyondMicros(text, 1, text.length - 1, 'ns');
      assert.equal(BigInt(micros ?? 0) * 1000n + BigInt(rest), nanos);
      assert.ok(rest >= 0 && rest < 1000);
    }
    assert.equal(nanosBeyondMicros('123456', 0, 6, 'us'), 0);
  });

  it('are a key column of lines, whether their shape is known or not', () => {
    const decoder = new LineLpDecoder({ ...POLICY, describesTables: true });
    for (let round = 0; round < 2; round++) {
      decoder.add(`${linesOf([1001, -1])}m,h=x a=2\nm,h=y b=1 2345`, ORIGIN);
      const [rows] = decoder.take().rows;
      assert.deepEqual(cellsOf(rows?.batch, 'k_timestamp'), [1, -1, 5, 2]);
      assert.deepEqual(cellsOf(rows?.batch, 'k_nanos'), [1, 999, 0, 345]);
      assert.deepEqual(rows?.shape?.columns.map(({ name, role, type }) => [name, role, type]).slice(0, 2), [
        ['k_timestamp', 'time', 'TIMESTAMPTZ'],
        ['k_nanos', 'nanos', 'INT2'],
      ]);
    }
    decoder.add('m k_nanos=1 1', ORIGIN);
    assert.match(decoder.take().faults[0]?.message ?? '', /"k_nanos" is the nanoseconds column/);
  });

  it('are a column of points, whose tags must not have its name', () => {
    const json = new JsonTsdDecoder({ keepsNanoseconds: true });
    json.add(
      '[{"metric":"m","timestamp":1700000000123456789,"value":1},{"metric":"m","timestamp":1700000000,"value":2}]',
      ORIGIN,
    );
    assert.deepEqual(cellsOf(json.take().rows[0]?.batch, 'k_nanos'), [789, 0]);
    const lines = new LineTsdDecoder({ keepsNanoseconds: true });
    lines.add('m 1700000000123456789 1 h=x\nm 1700000000123 1\nm 1700000000 1 k_nanos=1', ORIGIN);
    const { rows, faults } = lines.take();
    assert.deepEqual(cellsOf(rows[0]?.batch, 'k_nanos'), [789, 0]);
    assert.match(faults[0]?.message ?? '', /the tag "k_nanos" has the name of the nanoseconds column/);
  });

  describe('that are spread', () => {
    it('use the next free microsecond of their series, and the same one for a repeated point', () => {
      assert.deepEqual(spread(linesOf([1, 2, 3, 1, 2000, 5000, 4, 2])), [0, 1, 2, 0, 3, 5, 4, 1]);
      assert.deepEqual(spread(linesOf([1, 2]) + linesOf([1, 2], 'm,h=y') + linesOf([3])), [0, 1, 0, 1, 2]);
      assert.deepEqual(spread(linesOf([-1, -2, 0])), [-1, 0, 1]);
    });

    it('continue across the batches of one request', () => {
      const spreading = new NanosecondSpread();
      assert.deepEqual(spread(linesOf([1, 2]), spreading), [0, 1]);
      assert.deepEqual(spread(linesOf([3, 2, 1000]), spreading), [2, 1, 3]);
    });

    it('never share a microsecond in a request, however long', () => {
      const spreading = new NanosecondSpread();
      const seen = new Set<Cell>();
      for (let part = 0; part < 10; part++) {
        const lines = linesOf(Array.from({ length: 5_000 }, (_, index) => part * 5_000 + index));
        for (const time of spread(lines, spreading) ?? []) seen.add(time);
      }
      assert.equal(seen.size, 50_000);
    });

    it('need no more steps per point if all adjacent microseconds are used', () => {
      // One by one, the second half would take 2.5 billion steps.
      const even = Array.from({ length: 50_000 }, (_, index) => 2 * index);
      const times = spread(linesOf([...even, ...even.map((time) => time + 1)]));
      assert.equal(new Set(times).size, 100_000);
    });
  });
});
