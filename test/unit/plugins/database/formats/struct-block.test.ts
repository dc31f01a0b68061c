import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { SinkRecord } from '../../../../../src/data/record.ts';
import type { SinkRecordBlock } from '../../../../../src/data/message-block.ts';
import { DataError } from '../../../../../src/errors.ts';
import { jsonConverterPlugins } from '../../../../../src/converters/json-converter.ts';
import { StructDecoder, type StructPolicy } from '../../../../../plugins/database/formats/struct/struct.ts';
import { blockOf } from './block-of.ts';
import { groupsOf, rowsOf } from './rows-of.ts';

const POLICY: StructPolicy = {
  tableNameFormat: '${topic}',
  keyMode: 'kafka',
  keyFields: [],
  include: [],
  exclude: [],
  deletes: false,
  truncates: false,
  placeholder: '__debezium_unavailable_value',
};

const ROW_FIELDS = '[{"type":"int64","optional":false,"field":"id"},{"type":"string","optional":true,"field":"s"}]';

const SCHEMAS = [
  '{"type":"struct","fields":[{"type":"int64","optional":false,"field":"id"},{"type":"string","optional":true,"field":"s"},{"type":"double","optional":true,"field":"d"},{"type":"int64","name":"org.apache.kafka.connect.data.Timestamp","optional":true,"field":"t"}],"optional":false}',
  '{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"},{"type":"array","items":{"type":"int32"},"optional":true,"field":"a"},{"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","version":1,"parameters":{"scale":"2"},"optional":true,"field":"n"}],"optional":false}',
  '{"type":"string","optional":false}',
  `{"type":"struct","fields":[{"type":"struct","fields":${ROW_FIELDS},"optional":true,"field":"before"},{"type":"struct","fields":${ROW_FIELDS},"optional":true,"field":"after"},{"type":"struct","fields":[{"type":"string","optional":false,"field":"table"}],"optional":false,"field":"source"},{"type":"string","optional":false,"field":"op"}],"optional":false,"name":"t.Envelope"}`,
];

const EVENTS = [
  '{"before":null,"after":{"id":1,"s":"a"},"source":{"table":"t"},"op":"c"}',
  '{"before":null,"after":{"id":2,"s":"__debezium_unavailable_value"},"source":{"table":"t"},"op":"u"}',
  '{"before":{"id":1,"s":null},"after":null,"source":{"table":"t"},"op":"d"}',
  '{"before":null,"after":null,"source":{"table":"t"},"op":"t"}',
];

const payload = fc.oneof(
  fc
    .record({
      id: fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.constant('9223372036854775807'), fc.constant('"x"')),
      s: fc.constantFrom('"a"', '"a text that is longer than others"', '"q\\"uote"', '"é"', 'null'),
      d: fc.constantFrom('1', '-2.5', '1e5', '0.1234567890123456789', 'null', 'true'),
      t: fc.constantFrom('1700000000000', 'null'),
    })
    .map(({ id, s, d, t }) => `{"id":${String(id)},"s":${s},"d":${d},"t":${t}}`),
  fc.constantFrom(
    ...EVENTS,
    '{"id":1,"s":"__debezium_unavailable_value","d":1,"t":null}',
    '{"id":1,"a":[1,2],"n":"AfQ="}',
    '{"id":2,"a":null,"n":null}',
    '{ "id":3,"a":[],"n":null}',
    '"text"',
    'null',
    '{}',
  ),
);
const message = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .tuple(fc.constantFrom(0, 0, 0, 1, 2, 3), payload, fc.constantFrom('}', '}', '}', '} ', '', '}}'))
      .map(([schema, value, end]) => `{"schema":${SCHEMAS[schema] ?? ''},"payload":${value}${end}`),
  },
  { weight: 1, arbitrary: fc.constantFrom(null, '', '{}', '{"payload":1,"schema":null}') },
);

function converter() {
  const [plugin] = jsonConverterPlugins(false);
  return plugin.create({ 'schemas.enable': 'true' }, false);
}

function recordOf(messages: readonly (string | null)[], index: number, json = converter()): SinkRecord | undefined {
  const text = messages[index] ?? null;
  const coordinates = { topic: 'lines', partition: 2, offset: 100 + index };
  try {
    const { schema, value } = json.toConnectData('lines', text === null ? null : Buffer.from(text));
    return {
      ...coordinates,
      keySchema: null,
      key: null,
      valueSchema: schema,
      value,
      timestamp: 0,
      headers: [],
      timestampType: 'CreateTime',
      original: coordinates,
      consumed: coordinates,
    };
  } catch (error) {
    assert.ok(error instanceof DataError);
    return undefined;
  }
}

function read(
  messages: readonly (string | null)[],
  between: Buffer<ArrayBuffer>,
  inBlocks: boolean,
  tableNameFormat = POLICY.tableNameFormat,
) {
  const json = converter();
  const decoder = new StructDecoder({ ...POLICY, tableNameFormat });
  const read = blockOf(messages, between);
  const block: SinkRecordBlock = {
    messages: read,
    passesMessages: false,
    readStructs: (from, to, take) =>
      json.readStructs?.(read, from, to, (schema, values, index) =>
        take(schema, values, index, { topic: 'lines', key: () => undefined }),
      ) ?? from,
    sinkRecord: () => undefined,
  };
  let fast = 0;
  for (let index = 0; index < read.count; index++) {
    const next = inBlocks ? decoder.addBlock(block, index, read.count) : index;
    fast += next - index;
    index = next;
    const record = index < read.count ? recordOf(messages, index, json) : undefined;
    if (record !== undefined) decoder.add(record, { kind: 'record', ...record.consumed });
  }
  const { rows, faults } = decoder.take();
  const seen = {
    rows: rows.map(({ batch }) => ({
      table: batch.table,
      rows: rowsOf(batch),
      groups: groupsOf(batch),
      kinds: batch.columns.map(({ name, kind }) => [name, kind]),
      origins: Array.from({ length: batch.rowCount }, (_, row) => batch.origins.at(row)),
    })),
    faults: faults.map((fault) => ({ text: fault.message, origin: fault.origin })),
  };
  return { fast, seen };
}

describe('records with schemas in a block', () => {
  it('are read like individual records, whatever is between them', () => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 20 }),
        fc.uint8Array({ minLength: 1, maxLength: 6 }),
        fc.constantFrom('${topic}', '${source.table}'),
        (messages, bytes, format) => {
          const between = Buffer.from(bytes);
          assert.deepEqual(read(messages, between, true, format).seen, read(messages, between, false, format).seen);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('are all read in place except the first of each schema', () => {
    const messages = Array.from(
      { length: 50 },
      (_, index) => `{"schema":${SCHEMAS[0] ?? ''},"payload":{"id":${String(index)},"s":"a","d":1.5,"t":null}}`,
    );
    assert.equal(read(messages, Buffer.of(0, 12), true).fast, 49);
  });

  it('are read in place in change events with a row after them', () => {
    const messages = Array.from(
      { length: 50 },
      (_, index) => `{"schema":${SCHEMAS[3] ?? ''},"payload":${EVENTS[index % 2] ?? ''}}`,
    );
    const { fast, seen } = read(messages, Buffer.of(0, 12), true);
    assert.equal(fast, 49);
    assert.deepEqual(
      seen.rows.map(({ groups }) => [groups.length, groups[0], groups[1]]),
      [
        [
          50,
          'store __connect_topic,__connect_partition,__connect_offset,id,s',
          'store __connect_topic,__connect_partition,__connect_offset,id',
        ],
      ],
    );
  });
});
