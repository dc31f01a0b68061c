import assert from 'node:assert/strict';
import fc from 'fast-check';
import { kindOfNumber, numberCell } from '../../../../../plugins/database/formats/tsd/tsd-number.ts';
import { pointMicros } from '../../../../../plugins/database/formats/tsd/tsd-time.ts';

function cell(text: string): unknown {
  return numberCell(`<${text}>`, 1, 1 + text.length);
}

describe('a number of a point', () => {
  it('is a number, a bigint or decimal text, whichever holds all of it', () => {
    const cases: [string, unknown][] = [
      ['0', 0],
      ['-7', -7],
      ['007', 7],
      ['+5', 5],
      ['1.5', 1.5],
      ['-0.25', -0.25],
      ['.5', 0.5],
      ['5.', 5],
      ['1e3', 1000],
      ['-1.5E-3', -0.0015],
      ['100.000000000000000000', 100],
      ['0.30000000000000004', 0.30000000000000004],
      ['1.7976931348623157e308', Number.MAX_VALUE],
      ['9007199254740991', 9007199254740991],
      ['9007199254740993', 9007199254740993n],
      ['-9223372036854775808', -9223372036854775808n],
      ['18446744073709551615', 18446744073709551615n],
      ['123456789012345678901', '123456789012345678901'],
      ['0.1000000000000000055511151231257827', '0.1000000000000000055511151231257827'],
      ['-0', -0],
      ['-0.0', -0],
      ['1e-400', 0],
    ];
    assert.deepEqual(
      cases.map(([text]) => cell(text)),
      cases.map(([, expected]) => expected),
    );
  });

  it('is undefined if it is not a number, and infinite if it exceeds every type', () => {
    const texts = ['', '-', '+', '.', '1.2.3', '1e', 'e1', '--1', '1-', ' 1', '1 ', 'NaN', 'Infinity', '0x10', '1_0'];
    assert.deepEqual(
      texts.map(cell),
      texts.map(() => undefined),
    );
    assert.equal(cell('1e400'), Number.POSITIVE_INFINITY);
    assert.equal(cell('-1e400'), Number.POSITIVE_INFINITY);
  });

  it('preserves every digit of integers and doubles', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (value) => {
        assert.equal(String(cell(String(value))), String(value));
      }),
    );
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = Object.is(value, -0) ? '-0' : String(value);
        const read = cell(text);
        assert.ok(Object.is(typeof read === 'bigint' ? Number(read) : read, value) || Number(read) === value, text);
      }),
    );
  });

  it('is read in time proportional to its length, even if invalid', () => {
    const digits = '1'.repeat(300_000);
    for (const text of [`${digits}x`, `${digits}.${digits}x`, `-${digits}e`]) assert.equal(cell(text), undefined);
    assert.equal(cell(digits), digits);
  });

  it('is stored in a column of its kind', () => {
    assert.deepEqual(
      [5, -0, 0.5, 1e300, 2n ** 60n, '0.1'].map((value) => kindOfNumber(value)),
      ['int', 'float', 'float', 'float', 'int', 'numeric'],
    );
  });
});

describe('a time of a point', () => {
  const micros = (text: string, precision: 's' | 'ms' | 'digits') => pointMicros(text, 0, text.length, precision);

  it('is in the configured unit, or in the one implied by its digits', () => {
    assert.equal(micros('1700000000', 's'), 1_700_000_000_000_000);
    assert.equal(micros('1700000000', 'ms'), 1_700_000_000_000);
    for (const text of ['1700000000', '1700000000000', '1700000000000000', '1700000000000000999']) {
      assert.equal(micros(text, 'digits'), 1_700_000_000_000_000, text);
    }
    assert.equal(micros('-1700000000', 'digits'), -1_700_000_000_000_000);
    assert.deepEqual(
      ['0', '999999999', '-315619200', '999999999999', '-1', '12345678901234', '12345678901234567'].map((text) =>
        micros(text, 'digits'),
      ),
      [
        0, 999_999_999_000_000, -315_619_200_000_000, 999_999_999_999_000, -1_000_000, 12_345_678_901_234,
        12_345_678_901_234,
      ],
    );
  });

  it('is invalid with more digits, or if it is not an integer', () => {
    const texts = ['', '-', '1700000000.5', '17000000x0', '20000000000000000000'];
    assert.deepEqual(
      texts.map((text) => micros(text, 'digits')),
      texts.map(() => undefined),
    );
    assert.equal(micros('1.5', 's'), undefined);
    assert.equal(micros('99999999999999999', 's'), undefined);
  });
});
