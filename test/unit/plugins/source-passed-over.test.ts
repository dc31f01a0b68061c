import assert from 'node:assert/strict';
import type { Executor } from '../../../plugins/database/index.ts';
import { PassedOver } from '../../../plugins/db-source/passed-over.ts';
import type { SourceTable } from '../../../plugins/db-source/tables.ts';
import { silentLogger } from '../../../src/index.ts';

const OID = '16384';
const OPTIONS = { logger: silentLogger, emitsLateRows: false, lookBackMs: 60_000 };

describe('rows that a source has skipped', () => {
  let nowMs = 0;
  const counts = { rows: 0, records: 0, lateRows: 0, passedOver: 0, skippedRows: 0, failures: 0 };
  const feed = { name: 'orders', table: { oid: OID } as SourceTable, counts };
  let passedOver: PassedOver;

  beforeEach(() => {
    nowMs = 1_000_000;
    Object.assign(counts, { rows: 0, lateRows: 0, passedOver: 0 });
    passedOver = new PassedOver(undefined as unknown as Executor, OPTIONS, () => nowMs);
  });

  /** The estimate when the statistics count this many rows as inserted. */
  const estimated = (inserted: number): number => passedOver.estimate(feed, new Map([[OID, inserted]]));

  it('do not include rows read before the statistics counted them as inserted', () => {
    counts.rows = 10;
    assert.equal(estimated(0), 0);
    nowMs += 9_000;
    assert.equal(estimated(10), 0);
    nowMs += 10_000;
    assert.equal(estimated(10), 0);
    assert.equal(counts.passedOver, 0);
  });

  it('are the rows inserted but not read since, each counted once', () => {
    counts.rows = 10;
    estimated(10);
    nowMs += 13_000;
    counts.rows = 12;
    assert.equal(estimated(15), 3);
    assert.equal(estimated(15), 0);
    // Two more are read, and their session has not yet reported them.
    counts.rows = 14;
    assert.equal(estimated(15), 0);
    assert.equal(estimated(18), 1);
    assert.equal(counts.passedOver, 4);
  });

  it('are still counted after a reset of the statistics or a recreated table', () => {
    estimated(100);
    nowMs += 13_000;
    assert.equal(estimated(105), 5);
    assert.equal(estimated(0), 0);
    nowMs += 13_000;
    assert.equal(estimated(2), 2);
    assert.equal(counts.passedOver, 7);
  });
});
