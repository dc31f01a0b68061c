import assert from 'node:assert/strict';
import type { ReplayAnswer } from '../../src/common/answers.ts';
import {
  ANY_RANGE,
  EVERYTHING,
  restKey,
  selectionBody,
  type RangeForm,
} from '../../src/dead-letters/selection-form.ts';
import { faultText, hexDump, peakOf } from '../../src/dead-letters/dead-letter-record.ts';
import { failedAgain, progressOf, readRate, restOf } from '../../src/dead-letters/replay-progress.ts';
import { texts } from '../../src/texts/dead-letters.ts';

describe('a selection of dead-letter records in the console', () => {
  it('contains what was typed, and nothing else', () => {
    assert.deepEqual(selectionBody(EVERYTHING), { selection: {} });
    const body = selectionBody({
      ...EVERYTHING,
      group: 'abc',
      ranges: [
        { partition: ' 0 ', from: '5', to: '' },
        { partition: '', from: '', to: '' },
        { partition: '2', from: '', to: '9' },
      ],
      since: '2026-01-01T00:00:00Z',
      class: 'org.example.Broken',
      message: ' not null ',
      transforms: '{"transforms": "cut", "transforms.cut.max": 5}',
    });
    assert.deepEqual(body, {
      selection: {
        group: 'abc',
        offsets: [
          { partition: 0, from: 5 },
          { partition: 2, to: 9 },
        ],
        time: { from: Date.UTC(2026, 0, 1) },
        filter: { class: 'org.example.Broken', message: 'not null' },
      },
      transforms: { transforms: 'cut', 'transforms.cut.max': '5' },
    });
  });

  it('names the invalid field', () => {
    const range = (typed: Partial<RangeForm>) => ({ ranges: [ANY_RANGE, { ...ANY_RANGE, ...typed }] });
    const problems = [
      range({ partition: 'x' }),
      range({ from: '1' }),
      range({ partition: '0', from: '5', to: '4' }),
      range({ partition: '0', to: '-1' }),
      { since: '2026-01-02T00:00:00', until: '2026-01-01T00:00:00' },
      { transforms: '["a"]' },
      { transforms: '{"a": {}}' },
      { transforms: '{' },
    ].map((typed) => selectionBody({ ...EVERYTHING, ...typed }));
    const names = ['partition', 'partition', 'offsets', 'offsets', 'time', 'transforms', 'transforms', 'transforms'];
    assert.deepEqual(
      problems,
      names.map((problem) => ({ problem })),
    );
  });
});

describe('dead letters in the console', () => {
  it('show their fault in one line', () => {
    const fault = { stage: 'TASK_PUT', sqlstate: '23514', class: 'a.B', table: 't', column: 'c', message: 'too large' };
    assert.equal(faultText(fault), 'TASK_PUT · 23514 · t.c · too large');
    assert.equal(faultText({ stage: 'VALUE_CONVERTER', class: 'org.example.Broken' }), 'VALUE_CONVERTER · Broken');
  });

  it('show when most of them occurred', () => {
    assert.deepEqual(peakOf({ from: 60_000, bucketMs: 1000, counts: [1, 5, 0, 5] }), { count: 5, at: 61_000 });
    const text = (ms: number) => texts.times('a', 'b', 1, 'c', ms);
    assert.equal(text(1000), 'From a to b: at most 1 record in 1 second, at c');
    assert.equal(text(1_024_000), 'From a to b: at most 1 record in 17.1 minutes, at c');
    assert.match(text(3_600_000 * 24 * 2), / in 2 days,/);
  });

  it('show bytes in hexadecimal with their ASCII characters', () => {
    assert.equal(hexDump(''), '');
    const dump = hexDump(Buffer.from('sixteen bytes !!\u0000x').toString('hex')).split('\n');
    assert.equal(dump[0], '000000  73 69 78 74 65 65 6e 20 62 79 74 65 73 20 21 21  sixteen bytes !!');
    assert.match(dump[1] ?? '', /^000010 {2}00 78 +\.x$/);
  });
});

describe('the progress of a replay in the console', () => {
  const partitions = [
    { partition: 0, from: 10, next: 30, end: 50 },
    { partition: 2, from: 0, next: 0, end: 5 },
  ];

  it('is counted in offsets', () => {
    assert.deepEqual(progressOf({ partitions }), { done: 20, all: 45 });
    assert.deepEqual(failedAgain({ partitions } as unknown as ReplayAnswer), {
      offsets: [
        { partition: 0, from: 50 },
        { partition: 2, from: 5 },
      ],
    });
  });

  it('leaves a rest that can be replayed, within the selection', () => {
    const replay = {
      id: 3,
      state: 'STOPPED',
      transforms: null,
      selection: {
        group: 'g',
        offsets: [
          { partition: 0, from: 2, to: 8 },
          { partition: 0, from: 20 },
        ],
      },
      partitions: [
        { partition: 0, from: 2, next: 5, end: 30 },
        { partition: 1, from: 0, next: 4, end: 4 },
      ],
    } as unknown as ReplayAnswer;
    const rest = restOf(replay);
    const offsets = [
      { partition: 0, from: 5, to: 8 },
      { partition: 0, from: 20, to: 29 },
    ];
    assert.deepEqual(rest, { id: 3, selection: { group: 'g', offsets } });
    const body = selectionBody({ ...EVERYTHING, group: restKey({ id: 3 }) }, rest);
    assert.deepEqual(body, { selection: { group: 'g', offsets } });
    const ranges = [{ partition: '0', from: '0', to: '22' }];
    const narrow = selectionBody({ ...EVERYTHING, group: restKey({ id: 3 }), ranges }, rest);
    assert.deepEqual(narrow, {
      selection: {
        group: 'g',
        offsets: [
          { partition: 0, from: 5, to: 8 },
          { partition: 0, from: 20, to: 22 },
        ],
      },
    });
    const none = [{ partition: '77', from: '', to: '' }];
    assert.deepEqual(selectionBody({ ...EVERYTHING, group: restKey({ id: 3 }), ranges: none }, rest), {
      problem: 'offsets',
    });
    assert.equal(restOf({ ...replay, state: 'RUNNING' }), undefined);
    assert.equal(restOf({ ...replay, transforms: 'cut' }), undefined);
    assert.equal(restOf({ ...replay, partitions: [] }), undefined);
  });

  it('has a rate after two measurements', () => {
    assert.equal(readRate(undefined, { at: 5, read: 5 }), undefined);
    assert.equal(readRate({ at: 1000, read: 100 }, { at: 3000, read: 300 }), 100);
    assert.equal(readRate({ at: 1000, read: 100 }, { at: 1000, read: 300 }), undefined);
    assert.equal(readRate({ at: 1000, read: 100 }, { at: 2000, read: 50 }), undefined);
  });
});
