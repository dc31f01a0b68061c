import assert from 'node:assert/strict';
import fc from 'fast-check';
import { LetterBlock } from '../../../../src/connect/dead-letters/letter-block.ts';
import { deadLetter } from '../../../../src/connect/dead-letters/dead-letter.ts';
import { letterGroupId, letterGroupKey } from '../../../../src/connect/dead-letters/letter-group.ts';
import { LetterPick, type LetterSelection } from '../../../../src/connect/dead-letters/letter-selection.ts';
import { LetterSieve } from '../../../../src/connect/dead-letters/letter-sieve.ts';
import { contextHeaders, letterBlock, type GivenLetter } from './letter-batch.ts';

const refused = (offset: string, more: Record<string, string> = {}) =>
  contextHeaders(
    { topic: 't', partition: '0', offset, 'connector.name': 'c', stage: 'TASK_PUT', ...more },
    { sqlstate: '23514', table: 'x' },
  );

function picked(letters: readonly GivenLetter[], selection: LetterSelection): number[] {
  const sieve = new LetterSieve(new LetterPick('c', selection));
  const block = letterBlock(letters);
  return letters.flatMap((_, index) => (sieve.look(block, index).isPicked ? [index] : []));
}

describe('letters of a block are selected where they lie', () => {
  it('whether their headers were met before or not, as letters that are read one by one', () => {
    const names = [
      'topic',
      'partition',
      'offset',
      'connector.name',
      'stage',
      'exception.class.name',
      'exception.message',
    ];
    const key = fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...names.map((name) => `__connect.errors.${name}`)) },
      { weight: 3, arbitrary: fc.constantFrom('sluice.sqlstate', 'sluice.table', 'sluice.column') },
      { weight: 1, arbitrary: fc.constantFrom('own', '__connect.errors', 'sluice', 'é') },
    );
    const value = fc.option(
      fc.constantFrom('', '0', '7', '12', 'c', 'd', 't', 'no "x"', 'no "é"', '1x', '99999999999999999'),
    );
    const letter = fc.record({ headers: fc.array(fc.tuple(key, value), { maxLength: 9 }), timestamp: fc.nat(3) });
    const filter = fc.record(
      {
        stage: fc.constantFrom('c', 'UNKNOWN'),
        topic: fc.constant('t'),
        table: fc.constant('c'),
        message: fc.constant('no'),
      },
      { requiredKeys: [] },
    );
    const selections = fc.record({ filter, time: fc.record({ from: fc.nat(2) }) }, { requiredKeys: [] });
    fc.assert(
      fc.property(fc.array(letter, { minLength: 1, maxLength: 20 }), selections, (given, selection) => {
        // Each comes again, so that it is known by then.
        const letters = [...given, ...given];
        const block = letterBlock(letters);
        const groups = letters.map((_, index) => letterGroupId(letterGroupKey(deadLetter(block.record(index)))));
        for (const each of [selection, { ...selection, group: groups[0] }]) {
          const pick = new LetterPick('c', each);
          const sieve = new LetterSieve(pick);
          for (const [index] of letters.entries()) {
            const plain = deadLetter(block.record(index));
            const { isPicked, hasOwnHeaders } = sieve.look(block, index);
            assert.equal(isPicked, pick.has(plain));
            if (isPicked) assert.equal(hasOwnHeaders, plain.headers.length > 0);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('of one group, however long the offsets of their records are', () => {
    const offsets = ['1', '2', '10', '11', '1', '12'];
    const letters = offsets.map((offset) => ({ headers: refused(offset) }));
    const block = letterBlock(letters);
    const group = letterGroupId(letterGroupKey(deadLetter(block.record(0))));
    assert.deepEqual(
      picked([...letters, { headers: refused('3', { stage: 'TRANSFORMATION' }) }], { group }),
      [0, 1, 2, 3, 4, 5],
    );
    assert.deepEqual(picked(letters, { group: 'another' }), []);
  });

  it('of one group, although their messages and their own headers differ', () => {
    const one = (index: number) => ({
      headers: [
        ['trace', String(index)] as const,
        ...refused(String(index), {
          'exception.message': `no ${'x'.repeat(index % 7)}`,
          'exception.stacktrace': String(index),
        }),
      ],
    });
    const letters = Array.from({ length: 300 }, (_, index) => one(index));
    const block = letterBlock(letters);
    const group = letterGroupId(letterGroupKey(deadLetter(block.record(0))));
    const sieve = new LetterSieve(new LetterPick('c', { group }));
    const verdicts = letters.map((_, index) => sieve.look(block, index));
    assert.ok(verdicts.every(({ isPicked, hasOwnHeaders }) => isPicked && hasOwnHeaders));
    const message = { filter: { message: 'no xxx' } };
    assert.equal(picked(letters, message).length, letters.filter((_, index) => index % 7 >= 3).length);
  });

  it('and a record whose place is no number is of no topic', () => {
    const letters = ['10', '1x', '11', '', '12'].map((offset) => ({ headers: refused(offset) }));
    assert.deepEqual(picked(letters, { filter: { topic: 't' } }), [0, 2, 4]);
  });

  it('by offset and time, although their headers are alike', () => {
    const letters = [1, 2, 3, 4].map((timestamp) => ({ headers: refused('5'), timestamp }));
    assert.deepEqual(picked(letters, { time: { from: 2, to: 4 } }), [1, 2]);
    assert.deepEqual(
      picked(letters, {
        offsets: [
          { partition: 0, from: 1, to: 1 },
          { partition: 0, from: 3 },
        ],
      }),
      [1, 3],
    );
    assert.deepEqual(picked(letters, { offsets: [{ partition: 1 }] }), []);
  });

  it('also without headers, as letters of whichever connector', () => {
    const letters = [{ headers: [] }, { headers: refused('1') }, { headers: refused('1', { 'connector.name': 'd' }) }];
    assert.deepEqual(picked(letters, {}), [0, 1]);
    assert.deepEqual(picked([{ headers: [] }], {}), [0]);
    assert.deepEqual(picked(letters, { filter: { stage: 'UNKNOWN' } }), [0]);
  });
});

describe('the selected letters of a block', () => {
  const given = ['a', 'bb', 'x'.repeat(500), '', 'é'].map((value, index) => ({
    value,
    timestamp: 10 + index,
    headers: index === 1 ? [['mine', '1'] as const, ...refused('7')] : refused('7'),
  }));
  const read = (letters: LetterBlock) =>
    Array.from({ length: letters.count }, (_, index) => [
      letters.offsets[index],
      letters.timestamps[index],
      letters.bytes.toString('utf8', letters.valueStarts[index], letters.valueEnds[index]),
      letters.headers(index).map(({ key }) => key),
      letters.record(index).offset,
    ]);

  it('have the values and headers that their records had, and their own offsets', () => {
    const block = letterBlock(given);
    assert.deepEqual(
      read(new LetterBlock(block, Int32Array.of(1, 2, 4), true)),
      [1, 2, 4].map((index) => [index, 10 + index, given[index]?.value, index === 1 ? ['mine'] : [], index]),
    );
    const all = new LetterBlock(block, Int32Array.of(0, 1, 2, 3, 4), true);
    assert.deepEqual(
      read(all).map(([offset, , value]) => [offset, value]),
      given.map(({ value }, index) => [index, value]),
    );
    assert.equal(new LetterBlock(block, new Int32Array(0), false).count, 0);
  });

  it('have no value where the record had none', () => {
    const block = letterBlock([{ headers: refused('1') }, { headers: refused('2') }]);
    block.valueEnds[0] = (block.valueStarts[0] ?? 0) - 1;
    const { valueStarts, valueEnds, bytes } = new LetterBlock(block, Int32Array.of(0, 1), false);
    assert.ok((valueEnds[0] ?? 0) < (valueStarts[0] ?? 0));
    assert.equal(bytes.toString('utf8', valueStarts[1], valueEnds[1]), 'v');
  });
});
