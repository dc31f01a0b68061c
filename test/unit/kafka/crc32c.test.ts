import assert from 'node:assert/strict';
import fc from 'fast-check';
import { crc32c, crc32cByTables } from '../../../src/kafka/records/crc32c.ts';

describe('the checksum of record batches', () => {
  it('matches the check value of the standard', () => {
    const digits = Buffer.from('x123456789x');
    for (const checksum of [crc32c, crc32cByTables]) assert.equal(checksum(digits, 1, 10), 0xe3069283);
  });

  it('is the same natively and by tables, for any part of any bytes', () => {
    const range = fc.tuple(fc.nat(80), fc.nat(80));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), range, (bytes, [a, b]) => {
        const [start = 0, end = 0] = [a, b]
          .map((each) => Math.min(each, bytes.length))
          .sort((left, right) => left - right);
        const part = Buffer.from(bytes);
        assert.equal(crc32c(part, start, end), crc32cByTables(part, start, end));
      }),
    );
  });
});
