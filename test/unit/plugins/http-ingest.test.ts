import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import {
  DatabaseError,
  type Cell,
  type DecodedRows,
  type Fault,
  type WriteReport,
} from '../../../plugins/database/index.ts';
import { DecodeClock, type BodyPart } from '../../../plugins/database-http/ingest/decode.ts';
import { ingest, type Store } from '../../../plugins/database-http/ingest/ingest.ts';
import { describeOutcome, OutcomeCounts, statusOf } from '../../../plugins/database-http/ingest/outcome.ts';
import { adjustTimes, lineTimes } from '../../../plugins/database-http/ingest/precision.ts';
import { ApiFailure } from '../../../plugins/database-http/route.ts';

function rows(table: string, rowCount: number): DecodedRows {
  const origins = { at: (row: number) => ({ kind: 'line', line: row + 1 }) as const };
  return { batch: { table: { name: table }, columns: [], rowCount, origins }, shape: undefined };
}

function fault(line: number, sqlstate?: string): Fault {
  return { scope: 'record', message: `reason ${String(line)}`, origin: { kind: 'line', line }, sqlstate };
}

async function* parts(...tables: readonly (readonly DecodedRows[])[]): AsyncGenerator<BodyPart> {
  for (const decoded of tables) {
    await turn();
    yield { decoded: { rows: decoded, faults: [] }, textOf: (line) => `text ${String(line)}` };
  }
}

const stored = (count: number): WriteReport => ({ stored: count, discarded: 0, collapsed: 0, faults: [] });

/** Writes batch after batch. */
function storing(write: (rows: DecodedRows) => Promise<WriteReport>): Store {
  return async (all) => {
    const settled = [];
    for (const rows of all) settled.push(...(await Promise.allSettled([write(rows)])));
    return settled;
  };
}

describe('the flow of a body into the database', () => {
  it('has at most two writes in flight, and one per table', async () => {
    const running: (readonly string[])[] = [];
    let most = 0;
    const order: string[] = [];
    const store: Store = async (all) => {
      const tables = all.map(({ batch }) => batch.table.name);
      assert.ok(!running.flat().some((table) => tables.includes(table)), 'two writes of one table at the same time');
      running.push(tables);
      most = Math.max(most, running.length);
      const rowCount = all.reduce((sum, { batch }) => sum + batch.rowCount, 0);
      for (let wait = 0; wait < (rowCount % 3) + 1; wait++) await turn();
      order.push(...all.map(({ batch }) => `${batch.table.name}${String(batch.rowCount)}`));
      running.splice(running.indexOf(tables), 1);
      return all.map(({ batch }) => ({ status: 'fulfilled', value: stored(batch.rowCount) }));
    };
    const body = parts(
      [rows('a', 5), rows('b', 1)],
      [rows('a', 1), rows('a', 4)],
      [rows('c', 2), rows('b', 3)],
      [rows('d', 2)],
      [rows('e', 2)],
    );
    const outcome = await ingest(body, store, new DecodeClock());
    assert.equal(outcome.stored, 20);
    assert.equal(most, 2);
    const ofTable = (table: string) => order.filter((entry) => entry.startsWith(table));
    assert.deepEqual([ofTable('a'), ofTable('b'), ofTable('c')], [['a5', 'a1', 'a4'], ['b1', 'b3'], ['c2']]);
  });

  it('ends with 503 when the database becomes unreachable, and counts what was stored before', async () => {
    let calls = 0;
    const store = storing(async ({ batch }) => {
      if (++calls > 2) throw new DatabaseError('connection reset', { scope: 'infrastructure' });
      return stored(batch.rowCount);
    });
    const tables = Array.from({ length: 50 }, (_, index) => [rows(`t${String(index)}`, 10)]);
    const outcome = await ingest(parts(...tables), store, new DecodeClock());
    assert.equal(outcome.stored, 20);
    assert.ok(calls <= 5, `it continued for ${String(calls)} writes`);
    assert.deepEqual([statusOf(outcome, 200), outcome.failure?.retryAfterSeconds], [503, 5]);
    assert.match(describeOutcome(outcome, 'line'), /not available/);
  });

  it('answers 503 for locks that were not obtained in time and 400 for a missing database', async () => {
    const failing = (error: Error) =>
      ingest(
        parts([rows('t', 1)]),
        storing(() => Promise.reject(error)),
        new DecodeClock(),
      );
    const locked = new DatabaseError('canceling statement due to lock timeout', {
      scope: 'infrastructure',
      sqlstate: '55P03',
    });
    await assert.rejects(failing(locked), { status: 503, message: /lock timeout/ });
    await assert.rejects(failing(new DatabaseError('no such database', { scope: 'caller', sqlstate: '3D000' })), {
      status: 400,
    });
    await assert.rejects(failing(new TypeError('a mistake of ours')), TypeError);
  });

  it('keeps what was stored when the body breaks off, and reports it', async () => {
    async function* broken(): AsyncGenerator<BodyPart> {
      yield* parts([rows('t', 3)]);
      throw new ApiFailure(400, 'the request body is larger than 1 bytes');
    }
    const outcome = await ingest(
      broken(),
      storing(async ({ batch }) => stored(batch.rowCount)),
      new DecodeClock(),
    );
    assert.deepEqual([outcome.stored, statusOf(outcome, 200)], [3, 400]);
    assert.equal(describeOutcome(outcome, 'line'), 'the request body is larger than 1 bytes');
  });
});

describe('the reported bad lines', () => {
  it('are the hundred lowest numbers, in any order of arrival, with their texts', () => {
    const counts = new OutcomeCounts();
    const numbers = Array.from({ length: 300 }, (_, index) => ((index * 7) % 300) + 1);
    for (let from = 0; from < 300; from += 60) {
      counts.addFaults(
        numbers.slice(from, from + 60).map((line) => fault(line)),
        (line) => `text ${String(line)} of ${String(from)}`,
      );
    }
    assert.equal(counts.badCount, 300);
    assert.deepEqual(
      counts.badLines.map(({ line }) => line),
      Array.from({ length: 100 }, (_, index) => index + 1),
    );
    for (const { line, text } of counts.badLines) {
      assert.equal(text, `text ${String(line)} of ${String(Math.floor(numbers.indexOf(line) / 60) * 60)}`);
    }
  });

  it('have the prefix pq: for messages of the database', () => {
    const counts = new OutcomeCounts();
    counts.addFaults([fault(2, '22P02'), fault(1)]);
    const outcome = { ...counts, stored: 0, collapsed: 0, badCount: 2, badLines: counts.badLines, failure: undefined };
    const timings = { parseMs: 0, databaseMs: 0, totalMs: 0 };
    assert.equal(describeOutcome({ ...outcome, timings }, 'point'), 'point 1: reason 1; point 2: pq: reason 2');
  });
});

describe('precision=', () => {
  const read = (precision: string, cells: Cell[]): Cell[] => {
    const batch = {
      ...rows('t', cells.length).batch,
      columns: [{ name: 'k_timestamp', role: 'time', kind: 'time', cells } as const],
    };
    adjustTimes(batch, lineTimes(precision));
    return cells;
  };

  it('takes the spellings of InfluxDB 1, 2 and 3', () => {
    const spellings = [
      'n',
      'ns',
      'nanosecond',
      'u',
      'us',
      'µ',
      'µs',
      'microsecond',
      'ms',
      'millisecond',
      's',
      'second',
    ];
    assert.deepEqual(
      spellings.map((spelling) => lineTimes(spelling).decoder),
      ['ns', 'ns', 'ns', 'us', 'us', 'us', 'us', 'us', 'ms', 'ms', 's', 's'],
    );
    for (const wrong of ['', 'NS', 'd', 'x'.repeat(500)]) assert.throws(() => lineTimes(wrong), { status: 400 });
  });

  it('converts seconds to minutes and hours exactly', () => {
    assert.deepEqual(read('m', [1_000_000, -1_000_000, 9e15]), [60_000_000, -60_000_000, 540_000_000_000_000_000n]);
    assert.deepEqual(read('h', [1_000_000, 0]), [3_600_000_000, 0]);
  });

  it('auto determines units by size, and keeps every digit', () => {
    const nanos = 1_700_000_000_123_456_789n;
    assert.deepEqual(
      read('auto', [1_700_000_000, -1_700_000_000, 1_700_000_000_123, 1_700_000_000_123_456, nanos, -nanos, 0]),
      [1.7e15, -1.7e15, 1_700_000_000_123_000, 1_700_000_000_123_456, 1_700_000_000_123_456, -1_700_000_000_123_457, 0],
    );
  });
});
