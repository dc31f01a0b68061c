import assert from 'node:assert/strict';
import type { LogPart } from '../../src/common/answers.ts';
import { minutesText } from '../../src/common/format.ts';
import { asText, shownLines, withLines } from '../../src/connector/log-lines.ts';

describe('lines of the log in the console', () => {
  const line = (number: number, at: number, text: string, level = 'INFO'): LogPart['lines'][number] => {
    return { number, at, level, task: 0, thread: 1, logger: 'x', text };
  };

  it('are in the order of their times over all workers, each once', () => {
    const first = withLines([], 'a', [line(1, 10, 'one'), line(2, 30, 'three')]);
    const both = withLines(first, 'b', [line(1, 20, 'two')]);
    const again = withLines(both, 'a', [line(1, 10, 'one'), line(2, 30, 'three'), line(3, 40, 'four')]);
    assert.deepEqual(
      again.map(({ text }) => text),
      ['one', 'two', 'three', 'four'],
    );
    assert.equal(withLines(again, 'b', [line(1, 20, 'two')]), again);
  });

  it('are found by level, text, and task', () => {
    const all = withLines([], 'a', [
      line(1, 1, 'begun', 'DEBUG'),
      line(2, 2, 'It Broke', 'ERROR'),
      line(3, 3, 'continues'),
    ]);
    const found = (level: 'TRACE' | 'INFO' | 'ERROR', text: string) =>
      shownLines(all, level, text).map((each) => each.number);
    assert.deepEqual(
      [found('TRACE', ''), found('INFO', ''), found('ERROR', ''), found('TRACE', 'broke'), found('INFO', 'task 0')],
      [[1, 2, 3], [2, 3], [2], [2], [2, 3]],
    );
  });

  it('are copied with their worker and task', () => {
    assert.equal(asText(withLines([], 'w:1', [line(1, 0, 'begun')])), '1970-01-01T00:00:00.000Z INFO w:1 task 0 begun');
  });

  it('show the remaining time of a level in minutes and seconds', () => {
    assert.deepEqual([0, 1, 61_000, 600_000].map(minutesText), ['0:00', '0:01', '1:01', '10:00']);
  });
});
