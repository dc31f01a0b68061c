import assert from 'node:assert/strict';
import fc from 'fast-check';
import { END_TIMESTAMP_MICROS, MIN_TIMESTAMP_MICROS } from '../../../../../plugins/database/sql/timestamp-text.ts';
import { floorTo, unixMicros, unixText } from '../../../../../plugins/database/formats/unix-time.ts';

const UNITS = { s: 1_000_000_000n, ms: 1_000_000n, us: 1_000n, ns: 1n } as const;
const precision = fc.constantFrom('s', 'ms', 'us', 'ns');
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}

describe('a Unix time in digits', () => {
  it("is converted to microseconds, rounded down, or undefined beyond PostgreSQL's range", () => {
    fc.assert(
      fc.property(fc.oneof(int64, fc.bigInt({ min: -(2n ** 52n), max: 2n ** 52n })), precision, (value, unit) => {
        const expected = floorDivide(value * UNITS[unit], 1_000n);
        const micros = unixMicros(`<${String(value)}>`, 1, 1 + String(value).length, unit);
        if (expected < MIN_TIMESTAMP_MICROS || expected >= END_TIMESTAMP_MICROS) assert.equal(micros, undefined);
        else assert.equal(BigInt(micros ?? 0.5), expected);
        if (typeof micros === 'number') assert.ok(Number.isSafeInteger(micros) && !Object.is(micros, -0));
      }),
    );
  });

  it('is undefined if it is not an integer, or exceeds 64 bits of nanoseconds', () => {
    const texts = ['', '-', '+1', '1.5', '1e3', ' 1', '9223372036854775808', '9'.repeat(400), '--1', '1-'];
    assert.deepEqual(
      texts.map((text) => unixMicros(text, 0, text.length, 'ns')),
      texts.map(() => undefined),
    );
    assert.equal(unixMicros('0'.repeat(1_000_000), 0, 1_000_000, 'ns'), 0);
  });

  it('is printed in its unit, floored', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), precision, (micros, unit) => {
        const expected = unit === 'ns' ? micros * 1_000n : floorDivide(micros * 1_000n, UNITS[unit]);
        assert.equal(unixText(micros, unit), String(expected));
        if (Number.isSafeInteger(Number(micros))) assert.equal(unixText(Number(micros), unit), String(expected));
      }),
    );
  });

  it('can be floored to a unit', () => {
    assert.equal(floorTo('s', 1_999_999), 1_000_000);
    assert.equal(floorTo('ms', -1), -1_000);
    assert.equal(floorTo('us', 7.9), 7);
    assert.equal(floorTo('ns', 7), 7);
  });
});
