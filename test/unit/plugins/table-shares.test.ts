import assert from 'node:assert/strict';
import { TableShares } from '../../../plugins/db-source/table-shares.ts';

describe('dealing tables to tasks', () => {
  const tables = (count: number) => Array.from({ length: count }, (_, i) => `t${String(i).padStart(2, '0')}`);

  it('never makes more tasks than tables, and none without tables', () => {
    assert.deepEqual(new TableShares().deal(['a', 'b'], 5), [['a'], ['b']]);
    assert.deepEqual(new TableShares().deal([], 5), []);
  });

  it('gives every table to exactly one task, shares even within one', () => {
    const shares = new TableShares().deal(tables(11), 3);
    assert.deepEqual(shares.flat().sort(), tables(11));
    assert.deepEqual(shares.map((share) => share.length).sort(), [3, 4, 4]);
  });

  it('leaves other shares alone when a table comes', () => {
    const deal = new TableShares();
    const before = deal.deal(tables(5), 2);
    const after = deal.deal([...tables(5), 'new'], 2);
    const unchanged = after.filter((share) => before.some((old) => old.join() === share.join()));
    assert.equal(unchanged.length, 1);
    assert.equal(after.flat().length, 6);
  });

  it('evens shares out when tables go', () => {
    const deal = new TableShares();
    const [first = []] = deal.deal(tables(8), 2);
    const left = tables(8).filter((table) => !first.slice(0, 3).includes(table));
    const shares = deal.deal(left, 2);
    assert.deepEqual(shares.map((share) => share.length).sort(), [2, 3]);
    assert.deepEqual(shares.flat().sort(), left);
  });
});
