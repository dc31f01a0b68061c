import assert from 'node:assert/strict';
import fc from 'fast-check';
import { shortDecimal } from '../../../src/data/short-decimal.ts';

describe('a short decimal', () => {
  it('is the double that Number gives, sign of zero included', () => {
    const digits = (min: number, max: number) =>
      fc.array(fc.nat(9), { minLength: min, maxLength: max }).map((list) => list.join(''));
    const whole = fc.oneof(
      fc.constant('0'),
      digits(1, 9).map((text) => `1${text}`),
    );
    const number = fc
      .tuple(fc.constantFrom('', '-'), whole, fc.option(digits(1, 9), { nil: undefined }))
      .map(([sign, before, after]) => sign + before + (after === undefined ? '' : `.${after}`));
    let short = 0;
    fc.assert(
      fc.property(number, (text) => {
        const value = shortDecimal(`[${text}]`, 1, 1 + text.length);
        if (value === undefined) assert.ok(text.replace(/\D/g, '').length > 15, text);
        else assert.ok(Object.is(value, Number(text)), text);
        if (value !== undefined) short++;
      }),
      { numRuns: 2000 },
    );
    assert.ok(short > 1000, `${String(short)} of 2000 were short`);
  });

  it('has no exponent', () => {
    for (const text of ['1e5', '1E5', '-2.5e-3']) assert.equal(shortDecimal(text, 0, text.length), undefined);
  });
});
