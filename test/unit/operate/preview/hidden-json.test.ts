import assert from 'node:assert/strict';
import { hiddenInJson } from '../../../../src/operate/preview/hidden-json.ts';
import { SecretMask } from '../../../../src/observe/secret-mask.ts';

function hidden(json: string, ...secrets: string[]): unknown {
  const mask = new SecretMask();
  for (const secret of secrets) mask.add(secret);
  return JSON.parse(hiddenInJson(json, (text) => mask.hide(text)));
}

describe('secrets in JSON text', () => {
  it('are hidden in texts, however they are spelled, and leave JSON', () => {
    const value = 'a "secret" with \\ and \n';
    assert.deepEqual(hidden(JSON.stringify({ a: value, b: [`x ${value} y`, 'other'] }), value), {
      a: '[hidden]',
      b: ['x [hidden] y', 'other'],
    });
    assert.deepEqual(hidden('{"a":"\\name \\"name\\""}', 'name'), { a: '\name "[hidden]"' });
    assert.deepEqual(hidden('{"a":"\\"quoted"}', '"quoted'), { a: '[hidden]' });
  });

  it('are hidden where they are numbers, and not in names or words of JSON', () => {
    assert.deepEqual(hidden('{"rows":[123456789,12345678901],"true":true}', '123456789', 'true', 'rows'), {
      rows: ['[hidden]', '[hidden]01'],
      true: true,
    });
  });

  it('leave everything else as it was, to the last digit', () => {
    const text = '{"n": 9007199254740993, "f": -1.50e+10, "s": "\\u00e9 \\\\", "empty": "", "l": [null, false]}';
    assert.equal(
      hiddenInJson(text, (each) => each),
      text,
    );
  });

  it('are hidden in texts of millions of escapes, in time that grows with their length alone', () => {
    const text = `${'"'.repeat(3_000_000)}correct horse${'\\'.repeat(1_000_000)}`;
    const shown = hidden(JSON.stringify({ text }), 'correct horse') as { text: string };
    assert.equal(shown.text.length, text.length - 'correct horse'.length + '[hidden]'.length);
    assert.ok(!shown.text.includes('horse'));
  });
});
