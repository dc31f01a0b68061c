import assert from 'node:assert/strict';
import { valueText } from '../../../../src/cli/messages/consume.ts';

describe('the text of a message that is printed', () => {
  it('is its bytes, and null where it has no value', () => {
    const value = Buffer.from([0xff, 0x1b, 0x00]);
    assert.deepEqual(valueText({ value }, false), value);
    assert.equal(valueText({ value: null }, false).toString(), 'null');
  });

  it('commands no terminal: signs that would are shown as one sign', () => {
    const value = Buffer.from('a\tø\x1b]0;title\x07\r\u009b2J\x7f\n');
    const sign = '\u{fffd}';
    assert.equal(valueText({ value }, true).toString(), `a\tø${sign}]0;title${sign}${sign}${sign}2J${sign}\n`);
  });
});
