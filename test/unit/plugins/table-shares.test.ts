import assert from 'node:assert/strict';
import { TableShares } from '../../../plugins/db-source/table-shares.ts';

describe('distributing tables to tasks', () => {
  const tables = (count: number) => Array.from({ length: count }, (_, i) => `t${String(i).padStart(2, '0')}`);

  it('never creates more tasks than tables, and none without tables', () => {
    assert.deepEqual(new TableShares().distribute(['a', 'b'], 5), [['a'], ['b']]);
    assert.deepEqual(new TableShares().distribute([], 5), []);
  });

  it('assigns every table to exactly one task, with shares that differ by at most one', () => {
    const shares = new TableShares().distribute(tables(11), 3);
    assert.deepEqual(shares.flat().sort(), tables(11));
    assert.deepEqual(shares.map((share) => share.length).sort(), [3, 4, 4]);
  });

  it('keeps other shares when a table is added', () => {
    const deal = new TableShares();
    const before = deal.distribute(tables(5), 2);
    const after = deal.distribute([...tables(5), 'new'], 2);
    const unchanged = after.filter((share) => before.some((old) => old.join() === share.join()));
    assert.equal(unchanged.length, 1);
    assert.equal(after.flat().length, 6);
  });

  it('rebalances shares when tables are removed', () => {
    const deal = new TableShares();
    const [first = []] = deal.distribute(tables(8), 2);
    const left = tables(8).filter((table) => !first.slice(0, 3).includes(table));
    const shares = deal.distribute(left, 2);
    assert.deepEqual(shares.map((share) => share.length).sort(), [2, 3]);
    assert.deepEqual(shares.flat().sort(), left);
  });
});
