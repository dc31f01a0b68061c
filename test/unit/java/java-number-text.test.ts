import assert from 'node:assert/strict';
import fc from 'fast-check';
import { doubleText, floatText, parseDouble, parseFloat32, parseInteger } from '../../../src/java/java-number-text.ts';

describe('numbers as Java prints them', () => {
  it('have at least one digit after the point, and an exponent outside 0.001 to 10,000,000', () => {
    const texts = [0, -0, 1, 0.001, 9999999, 1e7, 9e-4, 1e21, 5e-324, NaN, -Infinity, 123456.789].map(doubleText);
    const expected = [
      '0.0',
      '-0.0',
      '1.0',
      '0.001',
      '9999999.0',
      '1.0E7',
      '9.0E-4',
      '1.0E21',
      '4.9E-324',
      'NaN',
      '-Infinity',
      '123456.789',
    ];
    assert.deepEqual(texts, expected);
  });

  it('have one digit more for some large integral numbers, as in Java 17', () => {
    assert.equal(doubleText(8249824749025827000), '8.2498247490258268E18');
    assert.equal(floatText(Math.fround(123456792)), '1.23456792E8');
    assert.equal(floatText(Math.fround(2147483647)), '2.14748365E9');
  });

  it('print floats with the digits of a float', () => {
    assert.equal(floatText(Math.fround(0.1)), '0.1');
    assert.equal(floatText(Math.fround(1 / 3)), '0.33333334');
    assert.equal(floatText(Math.fround(3.4028235e38)), '3.4028235E38');
    assert.equal(floatText(Math.fround(1.4e-45)), '1.4E-45');
    assert.equal(floatText(359427.125), '359427.12');
  });

  it('survive a round trip', () => {
    fc.assert(fc.property(fc.double(), (value) => Object.is(parseDouble(doubleText(value)), value)));
    fc.assert(fc.property(fc.float(), (value) => Object.is(Math.fround(Number(floatText(value))), value)));
  });
});

describe('numbers as Java parses them', () => {
  it('may have digits of another script', () => {
    assert.equal(parseInteger('+٤٢'), 42n);
    assert.equal(parseInteger('-９'), -9n);
    assert.equal(parseInteger('𝟏'), undefined);
    assert.equal(parseInteger('1_000'), undefined);
  });

  it('are rounded to a float once, not twice', () => {
    const halfWay = '1.00000017881393432617187499';
    assert.equal(Math.fround(Number(halfWay)), 1.000000238418579);
    assert.equal(parseFloat32(halfWay), 1.0000001192092896);
    assert.equal(parseFloat32('16777217'), 16777216);
    assert.equal(parseFloat32('-1e400'), -Infinity);
  });

  it('are rounded to a float once near the smallest and the largest floats too', () => {
    assert.equal(parseFloat32('7.0064923216240853546186479164496e-46'), 2 ** -149);
    assert.equal(parseFloat32('-7.0064923216240853546186479164496e-46'), -(2 ** -149));
    assert.equal(parseFloat32('7.0064923216240853546186479164495e-46'), 0);
    const largest = 2 ** 128 - 2 ** 104;
    assert.equal(parseFloat32('340282356779733661637539395458142568447.9'), largest);
    assert.equal(parseFloat32('340282356779733661637539395458142568448'), Infinity);
  });

  it('are rounded to the nearest float, and halfway to the even one, below 2^-125', () => {
    // All floats up to 2^-125 are multiples of 2^-149.
    const multiple = fc.integer({ min: 0, max: 2 ** 24 - 1 });
    fc.assert(
      fc.property(multiple, fc.integer({ min: 1, max: 60 }), fc.constantFrom('', '-'), (below, zeros, sign) => {
        // (2 * below + 1) / 2^150 as a decimal, and two decimals just below and above it.
        const halfway = (2n * BigInt(below) + 1n) * 5n ** 150n;
        const scaled = halfway * 10n ** BigInt(zeros);
        const exponent = `e-${String(150 + zeros)}`;
        const factor = sign === '-' ? -1 : 1;
        const expected = (multiples: number) => factor * multiples * 2 ** -149;
        assert.equal(parseFloat32(`${sign}${String(halfway)}e-150`), expected(below + (below % 2)));
        assert.equal(parseFloat32(`${sign}${String(scaled - 1n)}${exponent}`), expected(below));
        assert.equal(parseFloat32(`${sign}${String(scaled + 1n)}${exponent}`), expected(below + 1));
      }),
    );
  });
});
