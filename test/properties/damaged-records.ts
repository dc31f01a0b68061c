import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import type { ConsumedRecord } from '../../src/kafka/api.ts';
import { RecordFormatError } from '../../src/kafka/errors/kafka-errors.ts';
import { crc32c } from '../../src/kafka/records/crc32c.ts';
import { BatchField, nextOffsetOf } from '../../src/kafka/records/record-batch.ts';
import { RecordSet } from '../../src/kafka/records/record-set.ts';
import { parserProperty, type ParserProperty } from './parser-property.ts';

const MAX_UNPACKED_BYTES = 64 * 1024 * 1024;

/** All records of a fetch answer's part, headers included. */
export function readWhole(bytes: Buffer, fetchOffset: number): ConsumedRecord[] {
  const source = { topic: 't', partition: 3, bytes, fetchOffset };
  const options = { checkCrcs: true, aborted: [], maxUnpackedBytes: MAX_UNPACKED_BYTES };
  const set = new RecordSet(source, options);
  const records: ConsumedRecord[] = [];
  while (!set.read(records, 100));
  assert.ok(set.nextOffset > fetchOffset, 'the position moved');
  return records;
}

/** Bytes of record sets that are changed, cut or repeated; with a correct checksum, as an attacker would send them. */
function damagedRecords(sets: readonly Buffer[]): ParserProperty {
  const damage = fc.record({
    set: fc.constantFrom(...sets),
    flips: fc.array(fc.tuple(fc.nat(), fc.oneof(fc.constantFrom(0, 1, 0x7f, 0x80, 0xfe, 0xff), fc.nat(255))), {
      maxLength: 4,
    }),
    cut: fc.option(fc.nat(), { freq: 10 }),
    isSealed: fc.boolean(),
    isTwice: fc.boolean(),
  });
  return parserProperty(
    'a damaged batch is an error that names its place, or records in order',
    damage,
    () => (input) => {
      const { set, flips, cut, isSealed, isTwice } = input;
      let bytes = Buffer.from(set);
      const at = set.readInt32BE(BatchField.baseOffset + 4);
      for (const [position, value] of flips) bytes[position % bytes.length] = value;
      if (isSealed) bytes.writeUInt32BE(crc32c(bytes, BatchField.attributes, bytes.length), BatchField.crc);
      if (cut !== null) bytes = bytes.subarray(0, cut % bytes.length);
      if (isTwice) bytes = Buffer.concat([bytes, set]);
      nextOffsetOf(bytes);
      if (bytes.length === 0) return;
      try {
        requireOrder(readWhole(bytes, at), at, bytes.length);
      } catch (error) {
        if (!(error instanceof RecordFormatError)) throw error;
        assert.match(error.message, /^Topic t, partition 3, offset \d+: ./);
      }
    },
  );
}

function requireOrder(records: readonly ConsumedRecord[], from: number, bytes: number): void {
  let least = from;
  for (const { offset, key, value, headers } of records) {
    assert.ok(Number.isSafeInteger(offset) && offset >= least, `offset ${String(offset)} after ${String(least)}`);
    least = offset + 1;
    const parts = [key, value, ...headers.map((header) => header.value)];
    for (const part of parts) assert.ok((part?.length ?? 0) <= MAX_UNPACKED_BYTES);
    for (const header of headers) assert.equal(typeof header.key, 'string');
  }
  assert.ok(records.length <= Math.max(bytes, 1) * 300, 'no more records than there are bytes for');
}

/** Batches that a Java producer wrote, one per codec. */
const { batches } = JSON.parse(
  readFileSync(new URL('../unit/kafka/java-client-bytes.json', import.meta.url), 'utf8'),
) as { readonly batches: readonly { readonly base64: string }[] };

export const DAMAGED_RECORDS: readonly ParserProperty[] = [
  damagedRecords(batches.map(({ base64 }) => Buffer.from(base64, 'base64'))),
];
