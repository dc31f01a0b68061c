import assert from 'node:assert/strict';
import { describeOptions } from '../../support/option-table.ts';
import { declareOptions } from '../../../src/config/option.ts';
import { atLeast, between, oneOf } from '../../../src/config/validators.ts';
import { compareVersions, parseVersionRange } from '../../../src/config/version-range.ts';

describe('the table of options', () => {
  it('has a row for each option, with defaults and allowed values', () => {
    const options = declareOptions({
      url: { type: 'STRING', importance: 'HIGH', documentation: 'Where to | connect.' },
      mode: {
        type: 'STRING',
        default: 'fast',
        importance: 'LOW',
        documentation: 'How.',
        validator: oneOf('fast', 'safe'),
      },
      list: { type: 'LIST', default: [], importance: 'LOW', documentation: 'What.' },
      size: { type: 'INT', default: 1, importance: 'LOW', documentation: 'How large.', validator: atLeast(1) },
      share: { type: 'INT', default: 1, importance: 'LOW', documentation: 'How much.', validator: between(0, 9) },
      secret: { type: 'PASSWORD', default: null, importance: 'MEDIUM', documentation: 'Hush.' },
      hidden: { type: 'INT', default: 1, importance: 'LOW', documentation: '', internal: true },
    });
    assert.equal(
      describeOptions(options),
      [
        '| Name | Values | Default | Importance | Meaning |',
        '|---|---|---|---|---|',
        '| `url` | string | required | high | Where to \\| connect. |',
        '| `mode` | `fast`, `safe` | `fast` | low | How. |',
        '| `list` | list | empty | low | What. |',
        '| `size` | int, at least 1 | `1` | low | How large. |',
        '| `share` | int, 0 to 9 | `1` | low | How much. |',
        '| `secret` | password | none | medium | Hush. |',
      ].join('\n'),
    );
  });

  it('has the sentences that do not fit into a cell below it, in lines of 120 characters', () => {
    const sentence = `This sentence has the code \`a b\` and ${'word '.repeat(15)}end.`;
    const options = declareOptions({
      long: { type: 'INT', default: null, importance: 'LOW', documentation: `${sentence} ${sentence} ${sentence}` },
    });
    const [, , row = '', empty, ...details] = describeOptions(options).split('\n');
    assert.equal(row, `| \`long\` | int | none | low | ${sentence} More below. |`);
    assert.equal(empty, '');
    assert.equal(details.join('\n').replace(/\n {2}/g, ' '), `* \`long\`: ${sentence} ${sentence}`);
    assert.ok(details.length > 1 && details.every((line) => line.length <= 120));
  });
});

describe('version ranges', () => {
  it('are a version, a range, or several', () => {
    const includes = (range: string, version: string) => parseVersionRange(range)?.includes(version);
    assert.equal(includes('4.3.1', '4.3.1'), true);
    assert.equal(includes('4.3', '4.3.0'), true);
    assert.equal(includes('[4.0,5.0)', '4.3.1'), true);
    assert.equal(includes('[4.0,5.0)', '5.0'), false);
    assert.equal(includes('(,4.3.1)', '4.3.1'), false);
    assert.equal(includes('[1.0],[4.3.1]', '4.3.1'), true);
    for (const text of ['', ']x', '[1,2', '1,2', '1'.repeat(10_001)])
      assert.equal(parseVersionRange(text), undefined, text);
  });

  it('compare numbers by value and qualifiers below releases', () => {
    const sorted = ['4.10', '4.9.1', '4.9', '4.9-SNAPSHOT', '4.9-rc1'].sort(compareVersions);
    assert.deepEqual(sorted, ['4.9-rc1', '4.9-SNAPSHOT', '4.9', '4.9.1', '4.10']);
  });
});
