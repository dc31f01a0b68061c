import assert from 'node:assert/strict';
import { writeDouble } from '../../../../plugins/log-source/json-cells.ts';
import { ByteWriter } from '../../../../src/index.ts';
import { doubleText } from '../../../../src/java/java-number-text.ts';
import { Draw } from '../../../support/random.ts';

const LONGEST_TEXT = 30;

/** Returns what is written for the server's text; `undefined` if it needs a conversion. */
function written(text: string): string | undefined {
  const out = new ByteWriter(LONGEST_TEXT);
  const message = Buffer.from(`x${text}5`);
  const isWritten = writeDouble(out, message, 1, message.length - 1);
  assert.equal(isWritten, out.at > 0);
  return isWritten ? out.bytes.toString('latin1', 0, out.at) : undefined;
}

describe('the JSON of a double', () => {
  it('is the text of the server only where Java prints the same number', () => {
    let direct = 0;
    for (let seed = 1; seed <= 20_000; seed++) {
      const draw = new Draw(seed);
      const whole = draw.between(0, 10 ** draw.between(0, 9));
      const fraction = String(draw.between(0, 10 ** draw.between(0, 15)));
      const zeros = '0'.repeat(draw.between(0, 4));
      const text = `${draw.pick(['', '-'])}${String(whole)}${draw.pick(['', `.${zeros}${fraction}`])}`;
      const json = written(text);
      if (json === undefined) continue;
      assert.equal(json, doubleText(Number(text)), text);
      direct += 1;
    }
    assert.ok(direct > 8_000, String(direct));
  });

  it('is converted where the forms differ', () => {
    for (const text of ['NaN', 'Infinity', '1e+23', '1.5e-07', '0.0009', '10000000', '1.50', '-', '', '.5']) {
      assert.equal(written(text), undefined, text);
    }
    assert.equal(written('-0'), '-0.0');
    assert.equal(written('9999999.25'), '9999999.25');
  });
});
