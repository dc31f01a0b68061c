import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readTimestamp } from '../../../../../plugins/database/formats/timestamp-read.ts';
import { TimestampWriter } from '../../../../../plugins/database/sql/timestamp-text.ts';

describe('the text of a timestamp', () => {
  it('of the database is parsed exactly to the microsecond over its whole range', () => {
    const writer = new TimestampWriter('+00');
    const micros = fc.bigInt({ min: -210866803200000000n, max: 9224318015999999999n });
    const recent = fc.bigInt({ min: 0n, max: 4_000_000_000_000_000n });
    fc.assert(
      fc.property(fc.oneof(micros, recent), (value) => {
        assert.equal(BigInt(readTimestamp(writer.write(value)) ?? 0.5), value, writer.write(value));
      }),
      { numRuns: 300 },
    );
  });

  it('may be written in these ways', () => {
    const texts: [string, unknown][] = [
      ['2024-05-06 07:08:09', 1_714_979_289_000_000],
      ['2024-05-06T07:08:09Z', 1_714_979_289_000_000],
      ['2024-05-06 07:08:09.25+02', 1_714_972_089_250_000],
      ['2024-05-06 07:08:09.25-03:30', 1_714_991_889_250_000],
      ['2024-05-06T07:08:09.250+0530', 1_714_959_489_250_000],
      ['2024-05-06 07:08:09 UTC', 1_714_979_289_000_000],
      ['2024-05-06 07:08', 1_714_979_280_000_000],
      ['2024-05-06', 1_714_953_600_000_000],
      ['2024-05-06 07:08:09.1234569', 1_714_979_289_123_456],
      ['1969-12-31 23:59:59.9999999', -1],
      ['0001-01-01 00:00:00+00 BC', -62_167_219_200_000_000n],
      ['infinity', 'infinity'],
      ['-Infinity', '-infinity'],
    ];
    assert.deepEqual(
      texts.map(([text]) => [text, readTimestamp(text)]),
      texts,
    );
  });

  it('is refused if the time does not exist', () => {
    const texts = [
      '',
      'now',
      '2023-02-29 00:00:00',
      '2024-13-01 00:00:00',
      '2024-00-10',
      '2024-05-06 24:00:00',
      '2024-05-06 07:60:00',
      '2024-05-06 07:08:61',
      '2024-05-06 07:08:09.',
      '2024-05-06 07:08:09+99',
      '2024-05-06 07:08:09 CET',
      '20x4-05-06 07:08:09',
      '2024-05-06 07:08:09Zx',
      '1700000000000',
    ];
    assert.deepEqual(
      texts.map((text) => [text, readTimestamp(text)]),
      texts.map((text) => [text, undefined]),
    );
  });
});
