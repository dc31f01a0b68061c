import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { MessageBlock } from '../../../../../src/data/message-block.ts';
import type { Decoder } from '../../../../../plugins/database/formats/format.ts';
import { JsonDbDecoder } from '../../../../../plugins/database/formats/json-db/json-db.ts';
import { LineLpDecoder } from '../../../../../plugins/database/formats/line-lp/line-lp.ts';
import { blockOf } from './block-of.ts';
import { rowsOf } from './rows-of.ts';

type Message = string | null;

/** Reads each message individually. */
function oneByOne(decoder: Decoder, messages: readonly Message[], block: MessageBlock): unknown {
  for (const [index, message] of messages.entries()) addOne(decoder, message, block, index);
  return seen(decoder);
}

function addOne(decoder: Decoder, message: Message, { topic, partition, offsets }: MessageBlock, index: number): void {
  if (message !== null) decoder.add(message, { kind: 'record', topic, partition, offset: offsets[index] ?? -1 });
}

/** Reads messages from the block if possible, the others individually; `fast` counts the former. */
function asBlock(decoder: Decoder, messages: readonly Message[], block: MessageBlock): { seen: unknown; fast: number } {
  let fast = 0;
  for (let index = 0; index < block.count; index++) {
    const next = decoder.addBlock?.(block, index, block.count) ?? index;
    fast += next - index;
    index = next;
    if (index < block.count) addOne(decoder, messages[index] ?? null, block, index);
  }
  return { seen: seen(decoder), fast };
}

function seen(decoder: Decoder): unknown {
  const { rows, faults } = decoder.take();
  return {
    rows: rows.map(({ batch }) => ({
      table: batch.table,
      rows: rowsOf(batch),
      origins: Array.from({ length: batch.rowCount }, (_, row) => batch.origins.at(row)),
    })),
    faults: faults.map(({ message, origin }) => ({ message, origin })),
  };
}

const lines = (): Decoder =>
  new LineLpDecoder({ precision: 'ms', now: () => 1_700_000_000_000_000, derivesPrimaryTag: () => true });

const line = fc
  .record({
    table: fc.constantFrom('cpu', 'mem', 'ø'),
    tag: fc.constantFrom('', ',host=a', ',host=b', ',host=é', ',host=a,dc=x'),
    fields: fc.constantFrom(
      'v=1',
      'v=2.25',
      'v=-3',
      'v=7i',
      'v=1,w=2i',
      'v="text of some length"',
      'v="ü"',
      'v=t',
      'v=',
      'v',
    ),
    time: fc.constantFrom(' 1700000000000', ' 1700000000001', '', ' 17000000000000000000000', ' x'),
    end: fc.constantFrom('', '', '', '\n', '\r\n', '\nmem v=1 5', ' '),
  })
  .map(({ table, tag, fields, time, end }) => `${table}${tag} ${fields}${time}${end}`);
const message: fc.Arbitrary<Message> = fc.oneof(
  { weight: 8, arbitrary: line },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  { weight: 1, arbitrary: fc.constant(null) },
);

const json = (): Decoder => new JsonDbDecoder();

function jsonText(table: string, rows: string): string {
  return `{"table":"${table}","columns":[{"name":"t","type":"TIMESTAMPTZ"},{"name":"v","type":"VARCHAR"}],"tags":[{"name":"g","type":"VARCHAR","primary":true}],"data":[${rows}]}`;
}

const row = fc.constantFrom(
  '{"t":1,"v":"a","g":"x"}',
  '{"t":2,"v":null,"g":"a longer text than that"}',
  '{"v":"b","t":3}',
  '{"t":"x","v":"a"}',
  '{"t":4,"v":"é"}',
  '{"t":5,"w":1}',
  '{"t":6,"v":"un',
  '[]',
);
const jsonMessage: fc.Arbitrary<Message> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(fc.constantFrom('a', 'b', 'ü'), fc.array(row, { maxLength: 3 }), fc.constantFrom('', '', '', ' ', '}'))
      .map(([table, rows, end]) => jsonText(table, rows.join(',')) + end),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  { weight: 1, arbitrary: fc.constant(null) },
);

describe('messages of a block', () => {
  it('of line protocol are read like individual messages, whatever is between them', () => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 30 }),
        fc.uint8Array({ minLength: 1, maxLength: 6 }),
        (messages, between) => {
          const block = blockOf(messages, Buffer.from(between));
          assert.deepEqual(asBlock(lines(), messages, block).seen, oneByOne(lines(), messages, block));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('of json_db are read like individual messages, whatever is between them', () => {
    fc.assert(
      fc.property(
        fc.array(jsonMessage, { maxLength: 20 }),
        fc.uint8Array({ minLength: 1, maxLength: 6 }),
        (messages, between) => {
          const block = blockOf(messages, Buffer.from(between));
          assert.deepEqual(asBlock(json(), messages, block).seen, oneByOne(json(), messages, block));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('of json_db are all read in place except the first of each table', () => {
    const messages = Array.from({ length: 50 }, (_, index) => jsonText('a', `{"t":${String(index)},"v":"x","g":"y"}`));
    assert.equal(asBlock(json(), messages, blockOf(messages)).fast, 49);
  });

  it('of line protocol are all read in place except the first of each shape', () => {
    const messages = Array.from(
      { length: 50 },
      (_, index) => `cpu,host=h${String(index % 5)} v=${String(index)} ${String(index)}`,
    );
    assert.equal(asBlock(lines(), messages, blockOf(messages)).fast, 49);
  });
});
