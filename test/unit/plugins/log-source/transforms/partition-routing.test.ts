import assert from 'node:assert/strict';
import { LogicalName, Schema } from '../../../../../src/data/schema.ts';
import { Decimal, type ConnectValue, type Struct } from '../../../../../src/data/value.ts';
import { ConfigError } from '../../../../../src/errors.ts';
import type { Operation } from '../../../../../plugins/log-source/envelope.ts';
import { javaHash, murmurHash } from '../../../../../plugins/log-source/transforms/partition-hash.ts';
import { chainOf, event, product, recordOf } from './change-events.ts';

const UNROUTED = 0xff;

/** The partition of an event; 255 if the transform leaves it as it was. */
function partitionOf(value: ConnectValue, fields: string, num: number, hash?: string): number | null | undefined {
  const options = { 'partition.payload.fields': fields, 'partition.topic.num': String(num) };
  const chain = chainOf('partitions.PartitionRouting', {
    ...options,
    ...(hash === undefined ? {} : { 'partition.hash.function': hash }),
  });
  return chain.apply(recordOf(value, { partition: UNROUTED }))?.partition;
}

const change = (operation: Operation, row: Struct) =>
  event(operation, operation === 'd' ? { before: row } : { after: row });

describe('PartitionRouting', () => {
  // Results of Debezium's own tests.
  it('adds the hashes of the fields, with the hash of Java by default', () => {
    const orange = change('c', product(1n, 'orange'));
    assert.equal(partitionOf(orange, 'change.id, change.name', 100), 39);
    assert.equal(partitionOf(orange, 'change.id, change.name', 100, 'murmur'), 65);
    assert.equal(partitionOf(orange, 'after.not_existing,change.name', 3), 1);
    assert.equal(partitionOf(change('c', product(1n, 'APPLE')), 'change . name', 2), 0);
  });

  it('reads the row before a deletion, and the row after other changes, as change', () => {
    const orange = product(1n, 'orange');
    const expected = partitionOf(change('u', orange), 'after.name', 100);
    assert.notEqual(expected, UNROUTED);
    assert.equal(partitionOf(change('d', orange), 'change.name', 100), expected);
    assert.equal(partitionOf(change('d', orange), 'before.name', 100), expected);
    assert.equal(partitionOf(change('r', orange), 'change.name', 100), expected);
  });

  it('uses fields of the event and of its source', () => {
    // "c" is 99.
    assert.equal(partitionOf(change('c', product(1n, 'a')), 'op', 100), 99);
    const table = partitionOf(change('c', product(1n, 'a')), 'source.table', 100);
    assert.equal(partitionOf(change('d', product(2n, 'b')), 'source.table', 100), table);
  });

  it('leaves records alone without any of the fields, or null in them', () => {
    const noName = change('c', product(1n, null));
    for (const fields of ['after.not_existing', 'change.name', 'before.name', 'name', 'change']) {
      assert.equal(partitionOf(noName, fields, 2), UNROUTED, fields);
    }
  });

  it('leaves truncations, tombstones and other records alone', () => {
    for (const value of [event('t'), null, 'text', product(1n, 'a')]) {
      assert.equal(partitionOf(value, 'op,id,source.table', 100), UNROUTED);
    }
  });

  it('refuses empty fields, and counts of partitions that are not positive', () => {
    const refused = (fields: string, num: number, message: RegExp) => {
      assert.throws(
        () => partitionOf(null, fields, num),
        (error) => error instanceof ConfigError && message.test(error.message),
      );
    };
    refused(',source.table', 2, /partition\.payload\.fields: The .* value is invalid: Empty string element\(s\) not/);
    refused('op', 0, /partition\.topic\.num: The .* value is invalid: A positive, non-zero integer value is expected$/);
  });
});

describe('the hash of Java', () => {
  const int64 = new Schema('int64');
  const decimal = new Schema('bytes', { name: LogicalName.decimal });
  const cases: [string, Exclude<ConnectValue, null>, Schema, number][] = [
    ['Long', 1n << 32n, int64, 1],
    ['Long', -1n, int64, 0],
    ['Integer', -5, new Schema('int32'), -5],
    ['Float', 1, new Schema('float32'), 0x3f800000],
    ['Double', 1, new Schema('float64'), 0x3ff00000],
    ['Boolean', true, new Schema('boolean'), 1231],
    ['String', 'orange', new Schema('string'), -1008851410],
    ['ByteBuffer', Uint8Array.of(1, 255), new Schema('bytes'), 31 * (31 * 1 - 1) + 1],
    ['BigDecimal 1.50', new Decimal(150n, 2), decimal, 31 * 150 + 2],
    ['BigDecimal -1.50', new Decimal(-150n, 2), decimal, -31 * 150 + 2],
    ['BigDecimal of 2^32', new Decimal(1n << 32n, 0), decimal, 31 * 31],
    ['ArrayList', [1n, null], Schema.array(int64), 31 * (31 + 1)],
    ['HashMap', new Map([['a', 2n]]), Schema.map(new Schema('string'), int64), 97 ^ 2],
    ['Date', new Date(5), new Schema('int64', { name: LogicalName.timestamp }), 5],
  ];
  for (const [type, value, schema, hash] of cases) {
    it(`of a ${type} is ${String(hash)}`, () => {
      assert.equal(javaHash(value, schema), hash);
    });
  }
});

describe('the hash murmur', () => {
  it('depends on each byte of a text, whatever its length, and on the order', () => {
    const schema = new Schema('string');
    const texts = Array.from({ length: 40 }, (_, length) => 'é0123456789abcdef'.repeat(3).slice(0, length));
    const reversed = texts.slice(2).map((text) => [...text].reverse().join(''));
    const hashes = new Set([...texts, ...reversed].map((text) => murmurHash(text, schema)));
    assert.equal(hashes.size, texts.length + reversed.length);
    for (const hash of hashes) assert.equal(hash, hash | 0);
  });
});
