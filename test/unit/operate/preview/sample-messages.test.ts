import assert from 'node:assert/strict';
import { JsonNumber, type JsonTree } from '../../../../src/json/json-tree.ts';
import { sampleRecord } from '../../../../src/operate/preview/sample-messages.ts';

function bytesOf(value: JsonTree): string | undefined {
  return sampleRecord({ value }, 't', 0).value?.toString();
}

describe('sample messages', () => {
  it('are their text, or JSON in the digits and the order that they were given in', () => {
    assert.equal(bytesOf('text'), 'text');
    const members: [string, JsonTree][] = [
      ['2', new JsonNumber('9007199254740993', true)],
      ['1', new JsonNumber('1.0', false)],
      ['"', [null, true, 'ü']],
    ];
    assert.equal(bytesOf(new Map(members)), '{"2":9007199254740993,"1":1.0,"\\"":[null,true,"ü"]}');
    assert.equal(bytesOf(null), undefined);
  });

  it('are bytes where base64 says so, and refused where it is invalid', () => {
    const base64 = (text: string): JsonTree => new Map([['base64', text]]);
    assert.equal(bytesOf(base64('AAE=')), '\0\u0001');
    assert.equal(bytesOf(base64('AAE')), '\0\u0001');
    assert.throws(() => bytesOf(base64('not base64!')), /base64/);
  });

  it('have headers by name, or in a list where names come twice', () => {
    const headers = [{ key: 'a', value: 'x' }, { key: 'a' }];
    const expected = [
      { key: 'a', value: Buffer.from('x') },
      { key: 'a', value: null },
    ];
    assert.deepEqual(sampleRecord({ headers }, 't', 0).headers, expected);
    assert.deepEqual(sampleRecord({ headers: { a: 'x' } }, 't', 0).headers, expected.slice(0, 1));
  });
});
