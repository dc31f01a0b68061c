import assert from 'node:assert/strict';
import { BoundedMap } from '../../../src/data/bounded-map.ts';

describe('a bounded map', () => {
  it('evicts the entry that was not read', () => {
    const map = new BoundedMap<string, number>(3);
    for (const [value, key] of ['a', 'b', 'c'].entries()) map.set(key, value);
    assert.equal(map.get('a'), 0);
    map.set('d', 3);
    assert.deepEqual([...map.keys()].sort(), ['a', 'c', 'd']);
    map.set('e', 4);
    map.set('f', 5);
    assert.deepEqual([...map.keys()].sort(), ['d', 'e', 'f'], 'one read counts for one round');
  });

  it('evicts the oldest entry where all were read', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 0);
    map.set('b', 1);
    map.get('b');
    map.get('a');
    map.set('c', 2);
    assert.deepEqual(
      [...map],
      [
        ['b', 1],
        ['c', 2],
      ],
    );
  });

  it('counts an entry that is set again as read', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 0);
    map.set('b', 1);
    map.set('a', 2);
    map.set('c', 3);
    assert.deepEqual([map.get('a'), map.get('b'), map.get('c'), map.size], [2, undefined, 3, 2]);
  });

  it('keeps a set that fits whole, however often it is read in turn', () => {
    const map = new BoundedMap<number, number>(100);
    let created = 0;
    for (let round = 0; round < 5; round++) {
      for (let key = 0; key < 100; key++) map.getOrCreate(key, () => created++);
    }
    assert.deepEqual([created, map.size], [100, 100]);
  });

  it('creates a value once, an undefined one too', () => {
    const map = new BoundedMap<string, number | undefined>(2);
    let calls = 0;
    const create = (): undefined => {
      calls++;
    };
    assert.equal(map.getOrCreate('a', create), undefined);
    assert.equal(map.getOrCreate('a', create), undefined);
    assert.deepEqual([calls, map.has('a'), map.has('b')], [1, true, false]);
  });

  it('keeps nothing where creating fails', () => {
    const map = new BoundedMap<string, number>(2);
    const fail = (): number => {
      throw new Error('no');
    };
    assert.throws(() => map.getOrCreate('a', fail), /^Error: no$/);
    assert.equal(map.size, 0);
  });

  it('is bounded by the sizes of its entries, such as bytes', () => {
    const map = new BoundedMap<string, string>(10, (value, key) => key.length + value.length);
    map.set('a', '1234');
    map.set('b', '1234');
    assert.equal(map.size, 10);
    map.set('c', '123456');
    assert.deepEqual([[...map.keys()], map.size], [['c'], 7]);
    map.set('d', '1234567890');
    assert.deepEqual([[...map.keys()], map.size], [['c'], 7], 'an entry larger than the limit is not kept');
    map.set('c', '1234567890');
    assert.equal(map.size, 0, 'and takes the place of none');
  });

  it('keeps at least one entry', () => {
    const map = new BoundedMap<string, number>(0);
    map.set('a', 1);
    map.set('b', 2);
    assert.deepEqual([...map], [['b', 2]]);
  });

  it('forgets what is deleted or cleared', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    assert.deepEqual([map.delete('a'), map.delete('a'), map.size], [true, false, 1]);
    map.clear();
    assert.deepEqual([[...map], map.size], [[], 0]);
  });
});
