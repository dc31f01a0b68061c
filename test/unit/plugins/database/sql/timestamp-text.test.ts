import assert from 'node:assert/strict';
import fc from 'fast-check';
import { TimestampWriter } from '../../../../../plugins/database/sql/timestamp-text.ts';

describe('timestamp text', () => {
  const write = (micros: number | bigint): string => new TimestampWriter('+00').write(micros);

  it('shows microseconds only where there are any', () => {
    assert.equal(write(0), '1970-01-01 00:00:00+00');
    assert.equal(write(1_700_000_000_000_000), '2023-11-14 22:13:20+00');
    assert.equal(write(1_700_000_000_000_042), '2023-11-14 22:13:20.000042+00');
  });

  it('floors instants before 1970 to their own second', () => {
    assert.equal(write(-1), '1969-12-31 23:59:59.999999+00');
    assert.equal(write(-1n), '1969-12-31 23:59:59.999999+00');
    assert.equal(write(-1_000_000), '1969-12-31 23:59:59+00');
  });

  it("covers PostgreSQL's range, from BC to years after 9999", () => {
    assert.equal(write(-210866803200000000n), '4714-11-24 00:00:00+00 BC');
    assert.equal(write(-62135596800000001n), '0001-12-31 23:59:59.999999+00 BC');
    assert.equal(write(253402300800000000n), '10000-01-01 00:00:00+00');
    assert.equal(write(9224318015999999999n), '294276-12-31 23:59:59.999999+00');
  });

  it('has no zone for columns without one', () => {
    assert.equal(new TimestampWriter('').write(0), '1970-01-01 00:00:00');
  });

  it('agrees with Date on every millisecond, in any order, as number and as bigint', () => {
    const writer = new TimestampWriter('');
    fc.assert(
      fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }), (millis) => {
        const expected = new Date(millis).toISOString().replace('T', ' ').replace('Z', '').replace('.000', '');
        const asBigint = writer.write(BigInt(millis) * 1000n);
        assert.equal(asBigint.replace(/(\.\d{3})000$/, '$1'), expected);
        if (Number.isSafeInteger(millis * 1000)) assert.equal(writer.write(millis * 1000), asBigint);
      }),
    );
  });
});
