import assert from 'node:assert/strict';
import { findGap } from '../../../../plugins/log-source/continuity.ts';
import { forkIn } from '../../../../plugins/log-source/log-identity.ts';
import { parseLsn } from '../../../../plugins/log-source/lsn.ts';

const POSITION = { lastCommit: parseLsn('0/200'), last: undefined };
const STORED = {
  position: POSITION,
  isSnapshotOpen: false,
  snapshotLsn: undefined,
  log: { system: '7', timeline: 1 },
};
const SLOT = { confirmed: parseLsn('0/200'), activePid: undefined, invalidation: undefined };
const HISTORY = '# comment\n1\t0/1F0\tno recovery target specified\n2\t0/300\tno recovery target specified\n';

function gap(timeline: number, more: { readonly confirmed?: string; readonly end?: string } = {}) {
  const { confirmed = '0/200', end = '0/900' } = more;
  const server = { identity: { system: '7', timeline }, end: parseLsn(end) };
  const source = {
    server,
    slot: { ...SLOT, confirmed: parseLsn(confirmed) },
    forkOf: (earlier: number) => Promise.resolve(forkIn(HISTORY, earlier)),
  };
  return { of: (stored: Parameters<typeof findGap>[0]) => findGap(stored, source, 's') };
}

describe('the continuity of a position and a slot', () => {
  it('holds where the slot is at or before the position', async () => {
    assert.equal(await gap(1).of(STORED), undefined);
    assert.equal(await gap(1, { confirmed: '0/1FF' }).of(STORED), undefined);
    assert.equal(await gap(1, { end: '0/200' }).of(STORED), undefined);
  });

  it('is broken by a slot that is one byte ahead, and by a log that ends one byte before', async () => {
    assert.match((await gap(1, { confirmed: '0/201' }).of(STORED)) ?? '', /ahead of the stored position 0\/200/);
    assert.match(
      (await gap(1, { end: '0/1FF' }).of(STORED)) ?? '',
      /ends at 0\/1FF, before the stored position 0\/200/,
    );
  });

  it('counts a change that was read of a transaction whose end was not', async () => {
    const last = { xid: 9, lsn: parseLsn('0/250'), events: 1, micros: 0n, type: 'INSERT' };
    const stored = { ...STORED, position: { ...POSITION, last } };
    assert.equal(await gap(1, { end: '0/250' }).of(stored), undefined);
    assert.match(
      (await gap(1, { end: '0/24F' }).of(stored)) ?? '',
      /ends at 0\/24F, before the stored position 0\/250/,
    );
  });

  it('counts the place of a snapshot from the byte after its offset', async () => {
    const stored = { ...STORED, position: undefined, snapshotLsn: parseLsn('0/1FF') };
    assert.equal(await gap(1).of(stored), undefined);
    assert.match((await gap(1, { confirmed: '0/201' }).of(stored)) ?? '', /ahead/);
  });

  it('holds across a promotion only for what was read before it', async () => {
    const onSecond = { ...STORED, log: { system: '7', timeline: 2 } };
    assert.equal(await gap(3).of(onSecond), undefined);
    assert.match(
      (await gap(3).of(STORED)) ?? '',
      /timeline 3 departed from timeline 1 at 0\/1F0, but changes up to 0\/200/,
    );
    assert.match(
      (await gap(1).of(onSecond)) ?? '',
      /timeline 2, which is not in the history of the server's timeline 1/,
    );
  });

  it('is not checked against a server that an offset of Debezium does not name', async () => {
    assert.equal(await gap(5).of({ ...STORED, log: undefined }), undefined);
  });
});
