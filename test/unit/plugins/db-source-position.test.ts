import assert from 'node:assert/strict';
import type { SourceCoordinates } from '../../../src/data/record.ts';
import { dbSource } from '../../../plugins/db-source/plugin.ts';
import { RecentNumbers } from '../../../plugins/db-source/recent-numbers.ts';
import { LateRows } from '../../../plugins/db-source/late-rows.ts';
import { fromOffset, toOffset, type StoredPosition } from '../../../plugins/db-source/position.ts';
import { isWrittenFrom } from '../../../plugins/db-source/transaction-set.ts';

describe('an offset of a source', () => {
  const stored = (position: StoredPosition['position']): StoredPosition => ({
    position,
    transaction: 795n,
    oid: '16400',
  });

  it('is read back as the same position', () => {
    const positions: [StoredPosition['position'], 'time' | 'number', number | undefined][] = [
      [{ kind: 'after', at: 1_767_225_600_000_001n, key: ['a', '"'] }, 'time', 2],
      [{ kind: 'after', at: -1n, key: [] }, 'time', 0],
      [{ kind: 'counted', at: 9_223_372_036_854_775_807n, rowsAt: 3 }, 'time', undefined],
      [{ kind: 'after', at: 7n, key: [] }, 'number', 0],
      [{ kind: 'from', at: undefined }, 'time', 1],
      [{ kind: 'from', at: 5n }, 'time', 1],
    ];
    for (const [position, kind, keyWidth] of positions) {
      assert.deepEqual(fromOffset(toOffset(stored(position), kind), kind, keyWidth), stored(position));
    }
    assert.deepEqual(toOffset(stored({ kind: 'after', at: 5n, key: ['a'] }), 'time'), {
      timestamp_us: 5n,
      key: '["a"]',
      xid: 795n,
      oid: 16400,
    });
  });

  it('may be written by a user', () => {
    assert.deepEqual(fromOffset({ timestamp_us: 5 }, 'time', 1).position, { kind: 'from', at: 5n });
    assert.deepEqual(fromOffset({ incrementing: 5 }, 'number', 0).position, { kind: 'after', at: 5n, key: [] });
    assert.deepEqual(fromOffset({ timestamp: '1970-01-01 00:00:01' }, 'time', 1).position, {
      kind: 'from',
      at: 1_000_000n,
    });
  });

  it('resumes at its time if the key has a different width', () => {
    assert.deepEqual(fromOffset({ timestamp_us: 5, key: '["a"]' }, 'time', 2).position, { kind: 'from', at: 5n });
    assert.deepEqual(fromOffset({ timestamp_us: 5, key: 'a' }, 'time', 1).position, { kind: 'from', at: 5n });
  });

  it('of another shape is an error that describes the expected shape', () => {
    assert.throws(
      () => fromOffset({ timestamp_millisecond: 5n }, 'time', 1),
      /the offset \{"timestamp_millisecond":"5"\} is not of the form \{"timestamp_us":…\}/,
    );
    assert.throws(() => fromOffset({ timestamp_us: 1.5 }, 'time', 1), /is not of the form/);
  });
});

describe('offsets that a user gives a source', () => {
  const alter = (partition: SourceCoordinates | null, offset: SourceCoordinates | null, more = {}) =>
    dbSource.alterOffsets?.(
      { 'connection.url': 'jdbc:db://localhost/plant', 'connection.user': 'u', 'out.format': 'json_db', ...more },
      [{ partition, offset }],
    );

  it('are accepted if a task could start from them', async () => {
    assert.equal(await alter({ table: 'meters' }, { timestamp: '2026-01-31 08:00:00' }), true);
    assert.equal(await alter({ table: 'meters' }, null), true);
    assert.equal(await alter({ table: 'meters' }, { incrementing: 7n }, { mode: 'incrementing' }), true);
    assert.equal(await alter({ query: 'query' }, { timestamp_us: 7n }, { query: 'select 1' }), true);
  });

  it('are refused otherwise, with the expected form', async () => {
    await assert.rejects(async () => alter({ tables: 'meters' }, null), /must be of the form \{"table":"…"\}/);
    await assert.rejects(async () => alter(null, null), /must be of the form/);
    await assert.rejects(
      async () => alter({ table: 'meters' }, { incrementing: 7n }),
      /table meters: the offset .* is not of the form/,
    );
    await assert.rejects(
      async () => alter({ table: 'meters' }, { timestamp: 'soon' }),
      /table meters: Invalid value soon/,
    );
  });
});

describe('the recent transactions that a source remembers', () => {
  const at = (oldest: bigint, now: bigint) => ({
    nowMicros: now,
    transactions: { oldest, next: oldest + 10n },
    timeline: undefined,
    replayedMicros: undefined,
    changed: false,
  });

  it('are those that had not ended at the last look back, and those of rows sent', () => {
    const late = new LateRows(1000, at(100n, 5_000_000n), undefined);
    assert.deepEqual([late.transaction, late.from], [100n, 4_000_000n]);
    for (const transaction of [99, 100, 104]) late.recordSent(transaction);
    assert.deepEqual(
      [99, 100, 103, 104].map((transaction) => late.wasSent(transaction)),
      [true, true, false, true],
    );
    assert.equal(late.sent?.(), '0,4');
    late.settle(at(104n, 9_000_000n), [104, 106]);
    assert.deepEqual([late.transaction, late.from], [104n, 8_000_000n]);
    assert.deepEqual(
      [100, 103, 104, 105, 106].map((transaction) => late.wasSent(transaction)),
      [true, true, true, false, true],
    );
    assert.equal(late.sent?.(), '0,2');
  });

  it('are completely stored in the offset', () => {
    const position = { kind: 'after', at: 9_500_000n, key: ['a'] } as const;
    const late = new LateRows(1000, at(4_294_967_290n, 9_000_000n), undefined);
    for (const transaction of [4_294_967_290, 4_294_967_291, 4_294_967_295, 3, 4, 50]) late.recordSent(transaction);
    const { transaction, from, sent } = late;
    const offset = toOffset({ position, transaction, from, sent, oid: undefined }, 'time');
    // Transactions that are sent later are not part of the stored offset.
    late.recordSent(9);
    assert.equal(JSON.stringify(offset['sent']), '"0-1,5,9-10,56"');
    const restored = fromOffset({ ...offset }, 'time', 1);
    assert.deepEqual([restored.position, restored.transaction, restored.from], [position, transaction, from]);
    const again = new LateRows(1000, at(4_294_967_299n, 99_000_000n), restored);
    assert.deepEqual([again.transaction, again.from, again.sent?.()], [transaction, from, '0-1,5,9-10,56']);
    assert.deepEqual(
      [3, 4, 5, 50].map((each) => again.wasSent(each)),
      [true, true, false, true],
    );
  });

  it('resume from a stored offset, minus the delay', () => {
    const position = { kind: 'after', at: 2_000_000n, key: [] } as const;
    const late = new LateRows(1000, at(100n, 90_000_000n), { position, transaction: 80n, oid: undefined });
    assert.deepEqual([late.transaction, late.from], [80n, 1_000_000n]);
  });

  it("are discarded if the stored transaction is from another server: rows after the offset's time count as not sent", () => {
    const position = { kind: 'after', at: 2_000_000n, key: [] } as const;
    const late = new LateRows(1000, at(100n, 90_000_000n), { position, transaction: 900n, oid: undefined });
    assert.deepEqual([late.transaction, late.from], [3n, 1_000_000n]);
    assert.equal(late.wasSent(50), false);
  });

  it('are discarded on another timeline, from the last transaction that the new primary had received (K4)', () => {
    const on = (timeline: number, now: bigint, replayedMicros?: bigint) => ({
      ...at(100n, now),
      timeline,
      replayedMicros,
    });
    const late = new LateRows(1000, on(1, 5_000_000n), undefined);
    late.recordSent(104);
    const { transaction, from, sent, timeline } = late;
    const position = { kind: 'after', at: 4_900_000n, key: ['a'] } as const;
    const stored = fromOffset(toOffset({ position, transaction, from, sent, timeline, oid: '7' }, 'time'), 'time', 1);
    assert.equal(stored.timeline, 1);
    const sentOf = (each: LateRows) => [99, 104].map((written) => each.wasSent(written));
    late.enter(on(1, 9_000_000n));
    assert.deepEqual(sentOf(late), [true, true]);
    late.enter({ ...at(100n, 9_000_000n) });
    assert.deepEqual(sentOf(late), [true, true], 'a standby does not tell its timeline');
    late.enter(on(2, 9_000_000n, 3_500_000n));
    assert.deepEqual([sentOf(late), late.from, late.timeline], [[false, false], 2_500_000n, 2]);
    const restarted = new LateRows(1000, on(2, 9_000_000n), stored);
    assert.deepEqual([sentOf(restarted), restarted.from, restarted.timeline], [[false, false], 4_000_000n, 2]);
    const earlier = new LateRows(1000, on(2, 9_000_000n), { ...stored, timeline: undefined });
    assert.deepEqual([sentOf(earlier), earlier.timeline], [[true, true], 2], 'an offset of an earlier version');
    const wide = new LateRows(1000, on(1, 1n), undefined);
    wide.enter({ ...on(2, 2n), transactions: { oldest: 4_000_000_000n, next: 4_000_000_000n } });
    assert.deepEqual(
      [3_999_999_999, 2_000_000_000].map((written) => wide.wasSent(written)),
      [false, false],
    );
  });

  it('include the number read before the delay, from which reading resumes on another timeline (K4)', () => {
    const on = (timeline: number, now: bigint) => ({ ...at(100n, now), timeline });
    const position = { kind: 'after', at: 50n, key: [] } as const;
    const numbers = new RecentNumbers(10_000, on(1, 100_000_000n), {
      position,
      transaction: undefined,
      oid: undefined,
    });
    assert.equal(numbers.enter(on(1, 100_000_000n)), false);
    for (const second of [101n, 105n, 109n]) numbers.record(second * 1_000_000n, 50n + second);
    assert.equal(numbers.since, 50n);
    numbers.record(116_000_000n, 170n);
    assert.equal(numbers.since, 155n);
    const { since, timeline } = numbers.stored;
    const stored = fromOffset(
      toOffset({ position, transaction: undefined, since, timeline, oid: '7' }, 'number'),
      'number',
      0,
    );
    assert.deepEqual([stored.since, stored.timeline], [155n, 1]);
    const restarted = new RecentNumbers(10_000, on(2, 200_000_000n), stored);
    assert.deepEqual([restarted.enter(on(2, 200_000_000n)), restarted.since], [true, 155n]);
  });

  it('are compared correctly across the wraparound of their ids', () => {
    const wrapped = 4_294_967_296n;
    assert.equal(isWrittenFrom(5, wrapped - 3n), true);
    assert.equal(isWrittenFrom(4_294_967_290, wrapped + 5n), false);
    assert.equal(isWrittenFrom(4_294_967_290, wrapped - 100n), true);
    assert.equal(isWrittenFrom(2, 0n), false);
  });
});
