import assert from 'node:assert/strict';
import { fromOffset, PositionTracker, toOffset } from '../../../../plugins/log-source/position.ts';
import { Draw } from '../../../support/random.ts';

interface Change {
  readonly lsn: bigint;
  readonly id: number;
}

interface Transaction {
  readonly xid: number;
  readonly finalLsn: bigint;
  readonly endLsn: bigint;
  readonly changes: readonly Change[];
}

/** Transactions in the order of their commits; their changes overlap in the log, and some share a place. */
function drawLog(draw: Draw): readonly Transaction[] {
  let lsn = 100n;
  let id = 0;
  const open: { xid: number; changes: Change[] }[] = [];
  const done: Transaction[] = [];
  for (let step = 0; step < 60; step++) {
    lsn += BigInt(draw.between(1, 5));
    if (open.length === 0 || (open.length < 4 && draw.chance(0.3))) open.push({ xid: 1000 + step, changes: [] });
    const one = draw.pick(open);
    const copies = draw.chance(0.2) ? draw.between(2, 5) : 1;
    for (let copy = 0; copy < copies; copy++) one.changes.push({ lsn, id: id++ });
    if (!draw.chance(0.3)) continue;
    open.splice(open.indexOf(one), 1);
    lsn += 1n;
    const endLsn = draw.chance(0.5) ? lsn + 1n : lsn + 3n;
    done.push({ ...one, finalLsn: lsn, endLsn });
    // The next record of the log can begin where the commit ends.
    lsn = endLsn - 1n;
  }
  return done;
}

/** Reads the log from a position on, as a server sends it that forgets nothing; returns what is new, with the offset of each. */
function read(log: readonly Transaction[], offset: ReturnType<typeof toOffset> | undefined, most = Infinity) {
  const tracker = new PositionTracker(offset === undefined ? undefined : fromOffset(offset).position);
  const sent: { id: number; offset: ReturnType<typeof toOffset> }[] = [];
  for (const { xid, finalLsn, endLsn, changes } of log) {
    tracker.begin({ kind: 'begin', finalLsn, commitMicros: 5n, xid });
    for (const { lsn, id } of changes) {
      if (!tracker.isNew(lsn, 'INSERT')) continue;
      sent.push({ id, offset: toOffset(tracker.position) });
      if (sent.length >= most) return sent;
    }
    tracker.commit({ kind: 'commit', commitLsn: finalLsn, endLsn, commitMicros: 5n });
  }
  return sent;
}

describe('the position of the log source', () => {
  it('continues after the last change from every offset, once, also where changes share a place of the log', () => {
    let stops = 0;
    for (let seed = 1; seed <= 60; seed++) {
      const log = drawLog(new Draw(seed));
      const all = read(log, undefined).map(({ id }) => id);
      for (let most = 1; most <= all.length; most++) {
        const before = read(log, undefined, most);
        const after = read(log, before.at(-1)?.offset);
        assert.deepEqual(
          [...before, ...after].map(({ id }) => id),
          all,
          `seed ${String(seed)}, stop ${String(most)}`,
        );
        stops += 1;
      }
    }
    assert.ok(stops > 4_000, String(stops));
  });

  it('continues when the server has forgotten the transactions before', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const log = drawLog(new Draw(seed));
      const all = read(log, undefined).map(({ id }) => id);
      for (let most = 1; most <= all.length; most += 3) {
        const before = read(log, undefined, most);
        const offset = before.at(-1)?.offset;
        const confirmed = (offset?.['lsn_commit'] ?? 0n) as bigint;
        const left = log.filter(({ finalLsn }) => finalLsn >= confirmed);
        assert.deepEqual(
          [...before, ...read(left, offset)].map(({ id }) => id),
          all,
          `seed ${String(seed)}`,
        );
      }
    }
  });

  it('does not go back to a message outside of transactions that the server sends again', () => {
    const tracker = new PositionTracker({ lastCommit: 100n, last: undefined });
    assert.equal(tracker.isNewMessage(90n, 5n), false);
    assert.equal(tracker.position.lastCommit, 100n);
    assert.equal(tracker.isNewMessage(110n, 5n), true);
    assert.equal(tracker.position.lastCommit, 110n);
  });

  it('moves without a record while the server is idle, and not within a transaction', () => {
    const log = { system: '7', timeline: 1 };
    const tracker = new PositionTracker({ lastCommit: 100n, last: undefined, log });
    tracker.advance(150n);
    tracker.advance(120n);
    const offset = { lsn_commit: 150n, server_system_id: '7', server_timeline: 1n };
    assert.deepEqual(toOffset(tracker.position), offset);
    assert.equal(tracker.position.lastCommit, 100n, 'records name the last commit that was sent');
    assert.deepEqual(fromOffset(offset).log, log);
    const resumed = new PositionTracker(fromOffset(offset).position);
    resumed.begin({ kind: 'begin', finalLsn: 140n, commitMicros: 5n, xid: 1 });
    assert.equal(resumed.isNew(135n, 'INSERT'), false, 'it is part of what was sent');
    resumed.commit({ kind: 'commit', commitLsn: 140n, endLsn: 145n, commitMicros: 5n });
    resumed.begin({ kind: 'begin', finalLsn: 150n, commitMicros: 5n, xid: 2 });
    assert.equal(resumed.isNew(120n, 'INSERT'), true, 'it was committed later');
    resumed.advance(160n);
    assert.equal(toOffset(resumed.position)['lsn_commit'], 150n);
  });

  it('reads offsets of Debezium, and of a snapshot', () => {
    const { position } = fromOffset({
      lsn_proc: 500n,
      messageType: 'INSERT',
      lsn_commit: 480n,
      lsn: 500n,
      txId: 77n,
      ts_usec: 9n,
    });
    assert.deepEqual(position, {
      lastCommit: 480n,
      last: { xid: 77, lsn: 500n, events: 1, micros: 9n, type: 'INSERT' },
      log: undefined,
    });
    const begun = fromOffset({ lsn_proc: 500n, messageType: 'BEGIN', lsn_commit: 480n, lsn: 500n, txId: 77n });
    assert.equal(begun.position?.last?.events, 0, 'the first change of the transaction is still to be sent');
    const during = fromOffset({ lsn: 5n, snapshot: 'INITIAL', snapshot_completed: false });
    assert.deepEqual(during, { position: undefined, isSnapshotOpen: true, snapshotLsn: 5n, log: undefined });
    const after = fromOffset({ lsn: 5n, snapshot: 'INITIAL', snapshot_completed: true });
    assert.deepEqual(after, { position: undefined, isSnapshotOpen: false, snapshotLsn: 5n, log: undefined });
    assert.throws(() => fromOffset({ lsn: 'x' }), /lsn of the offset is not an integer: "x"/);
  });
});
