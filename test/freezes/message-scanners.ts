import { decimalBytes, decimalFromBytes, parseDecimal } from '../../src/data/logical-values.ts';
import { decodeUtf8 } from '../../src/java/charset.ts';
import { decimalText } from '../../src/java/java-text.ts';
import { SimpleDateFormat } from '../../src/java/date-format/simple-date-format.ts';
import { STRING } from '../../src/data/schema.ts';
import type { ConnectValue } from '../../src/data/value.ts';
import { jsonConverterOptions, JsonConverter } from '../../src/converters/json-converter.ts';
import { AvroFormat } from '../../src/converters/avro/avro-format.ts';
import { parseAvroSchema } from '../../src/converters/avro/avro-schema.ts';
import { BlockText } from '../../src/data/block-text.ts';
import { parseJson } from '../../src/converters/json-schema/json-schema-document.ts';
import { parseProtobuf } from '../../src/converters/protobuf/protobuf-files.ts';
import { parseHeaderText } from '../../src/converters/header-literals.ts';
import { hiddenInJson } from '../../src/operate/preview/hidden-json.ts';
import { castValue } from '../../src/transforms/cast-value.ts';
import { parsedDecimal } from '../../src/transforms/number-parsing.ts';
import { parseOptions } from '../../src/config/parse.ts';
import type { Decoder } from '../../plugins/database/formats/format.ts';
import { CdcDbDecoder } from '../../plugins/database/formats/json-db/cdc-db.ts';
import { JsonDbDecoder } from '../../plugins/database/formats/json-db/json-db.ts';
import { LineLpDecoder } from '../../plugins/database/formats/line-lp/line-lp.ts';
import { TableNames } from '../../plugins/database/formats/struct/struct-table-names.ts';
import { readTimestamp } from '../../plugins/database/formats/timestamp-read.ts';
import { JsonTsdDecoder } from '../../plugins/database/formats/tsd/json-tsd.ts';
import { LineTsdDecoder } from '../../plugins/database/formats/tsd/line-tsd.ts';
import { cellToText } from '../../plugins/database/sql/cell-text.ts';
import { jsonToArrayLiteral } from '../../plugins/database/sql/json-array.ts';
import type { TypeFamily } from '../../plugins/database/sql/column-type.ts';
import { AVRO_DEFAULTS } from '../support/avro-defaults.ts';
import { blockOf } from '../unit/plugins/database/formats/block-of.ts';
import { scanner, type Scanner } from './scanner.ts';

const RECORD = { kind: 'record', topic: 'topic', partition: 0, offset: 0 } as const;

function decoded(make: () => Decoder, message: (text: string) => string): (text: string) => unknown {
  return (text) => {
    const decoder = make();
    decoder.add(Buffer.from(message(text)), RECORD);
    return decoder.take();
  };
}

const json = (text: string): string => JSON.stringify(Buffer.from(text).toString());
const jsonDb = (type: string, cell: string, name = '"n"'): string =>
  `{"database":"d","schema":"public","table":"t","columns":[{"name":${name},"type":${type},"length":0}],` +
  `"tags":[],"rows":[{${name}:${cell}}]}`;
const cdcDb = (type: string, cell: string): string =>
  `{"kind":"insert","database":"d","schema":"public","table":"t","columnnames":["n"],"columntypes":[${type}],` +
  `"columnvalues":[[${cell}]]}`;
const FORMATS = [
  ['line_lp', () => new LineLpDecoder({ precision: 'ms', now: () => 1 })],
  ['line_tsd', () => new LineTsdDecoder()],
  ['json_tsd', () => new JsonTsdDecoder()],
  ['json_db', () => new JsonDbDecoder()],
  ['cdc_db', () => new CdcDbDecoder()],
] as const;

const converter = (strict: boolean, settings: Record<string, string>): JsonConverter =>
  new JsonConverter(parseOptions(jsonConverterOptions, { 'converter.type': 'value', ...settings }), strict);
const converted =
  (value: JsonConverter, message: (text: string) => string): ((text: string) => unknown) =>
  (text) =>
    value.toConnectData('topic', Buffer.from(message(text)));
const envelope = (schema: string, payload: string): string => `{"schema":${schema},"payload":${payload}}`;
const decimalSchema = '{"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"2"}}';

/** A message of a schema with a field of each kind that has a length. */
function avroStruct(): (text: string) => unknown {
  const types = ['string', { type: 'bytes', logicalType: 'decimal', precision: 9, scale: 2 }, 'long'];
  const lists = types.flatMap((type) => [
    { type: 'array', items: type },
    { type: 'map', values: ['null', type] },
  ]);
  const fields = [...types, ...lists].map((type, index) => ({ name: `f${String(index)}`, type }));
  const schema = JSON.stringify({ type: 'record', name: 'Row', fields });
  const registered = { id: 1, schemaType: 'AVRO', text: schema, references: [] };
  const { structs } = new AvroFormat(AVRO_DEFAULTS).reader(registered, undefined);
  return (text) => {
    const block = blockOf([text]);
    const window = new BlockText();
    window.open(block, 0);
    return structs?.readInto(window, block.bytes, block.valueStarts[0] ?? 0, block.valueEnds[0] ?? 0, []);
  };
}

const SCALARS = ['int8', 'int64', 'float32', 'float64', 'boolean', 'string', 'bytes'];
const CASTS = ['int8', 'int64', 'float32', 'float64', 'boolean', 'string'] as const;
const FAMILIES: readonly TypeFamily[] = ['int8', 'float4', 'float8', 'numeric', 'bool', 'timestamptz', 'text', 'json'];

/** Keys, values and headers of messages, before and after transforms. */
export const MESSAGE_SCANNERS: readonly Scanner[] = [
  ...FORMATS.map(([name, make]) =>
    scanner(
      `${name} message`,
      decoded(make, (text) => text),
    ),
  ),
  scanner(
    'line_lp field',
    decoded(FORMATS[0][1], (text) => `t,a=b f=${text} 1`),
  ),
  scanner(
    'line_lp tag',
    decoded(FORMATS[0][1], (text) => `t,a=${text} f=1 1`),
  ),
  scanner(
    'line_tsd tag',
    decoded(FORMATS[1][1], (text) => `put m 1700000000 1 a=${text}`),
  ),
  scanner(
    'line_tsd value',
    decoded(FORMATS[1][1], (text) => `put m 1700000000 ${text} a=b`),
  ),
  scanner(
    'json_tsd metric',
    decoded(FORMATS[2][1], (text) => `{"metric":${json(text)},"timestamp":1700000000,"value":${json(text)},"tags":{}}`),
  ),
  scanner(
    'json_db column type',
    decoded(FORMATS[3][1], (text) => jsonDb(json(text), '1')),
  ),
  scanner(
    'json_db column name',
    decoded(FORMATS[3][1], (text) => jsonDb('"INT8"', '1', json(text))),
  ),
  ...['TIMESTAMPTZ', 'INT8', 'DECIMAL', 'FLOAT8', 'VARCHAR', 'BOOL', 'BYTES', 'JSON'].map((type) =>
    scanner(
      `json_db cell of ${type}`,
      decoded(FORMATS[3][1], (text) => jsonDb(`"${type}"`, json(text))),
    ),
  ),
  scanner(
    'json_db number',
    decoded(FORMATS[3][1], (text) => jsonDb('"DECIMAL"', text)),
  ),
  scanner(
    'cdc_db column type',
    decoded(FORMATS[4][1], (text) => cdcDb(json(text), '1')),
  ),
  scanner(
    'cdc_db cell',
    decoded(FORMATS[4][1], (text) => cdcDb('"DECIMAL"', text)),
  ),
  scanner(
    'JsonConverter without schemas',
    converted(converter(false, { 'schemas.enable': 'false' }), (text) => text),
  ),
  scanner(
    'JsonConverter',
    converted(converter(false, {}), (text) => text),
  ),
  scanner(
    'JsonConverter schema',
    converted(converter(false, {}), (text) => envelope(text, '1')),
  ),
  ...SCALARS.map((type) =>
    scanner(
      `JsonConverter ${type}`,
      converted(converter(false, {}), (text) => envelope(`{"type":"${type}"}`, text)),
    ),
  ),
  scanner(
    'JsonConverter text',
    converted(converter(true, {}), (text) => envelope('{"type":"string"}', json(text))),
  ),
  scanner(
    'JsonConverter bytes',
    converted(converter(true, {}), (text) => envelope('{"type":"bytes"}', json(text))),
  ),
  scanner(
    'JsonConverter Decimal',
    converted(converter(false, {}), (text) => envelope(decimalSchema, text)),
  ),
  scanner(
    'JsonConverter Decimal in Base64',
    converted(converter(false, {}), (text) => envelope(decimalSchema, `"${Buffer.from(text).toString('base64')}"`)),
  ),
  scanner('hidden JSON', (text) => hiddenInJson(text, (each) => each)),
  scanner('UTF-8', (text) => decodeUtf8(Buffer.from(text, 'utf16le'))),
  scanner('header text', parseHeaderText),
  scanner('header list', (text) => parseHeaderText(`[${text}]`)),
  scanner('header map', (text) => parseHeaderText(`{"a":${text}}`)),
  ...CASTS.map((type) => scanner(`Cast to ${type}`, (text) => castValue(text, STRING, type))),
  scanner('Decimal text', (text) => {
    const decimal = parsedDecimal(text);
    return [decimalText(decimal), decimal.toPlainString()];
  }),
  scanner('Decimal bytes', (text) => {
    const decimal = decimalFromBytes(Buffer.from(text), 3);
    return [decimalText(decimal), decimalBytes(decimal)];
  }),
  scanner('Decimal exponent', (text) => parseDecimal(`1E${text}`)),
  ...['yyyy-MM-dd HH:mm:ss.SSS', 'EEE MMM d yyyy z', 'yyyyMMddX', 'S'].map((pattern) => {
    const format = new SimpleDateFormat(pattern);
    return scanner(`time by ${pattern}`, (text) => format.parse(text));
  }),
  scanner('table name of a record', (text) =>
    new TableNames('${topic}').of({ topic: text, value: null as ConnectValue }),
  ),
  scanner('time text', readTimestamp),
  ...FAMILIES.map((family) => {
    const toText = cellToText('text', {
      ...{ family, typeOid: 0, precision: 6, maxLength: undefined },
      ...{ acceptsNull: true, binary: false },
    });
    return scanner(`cell for ${family}`, (text) => toText(text));
  }),
  scanner('JSON array for an array column', (text) => jsonToArrayLiteral(`[${json(text)}]`, { typeOid: 1009 })),
  scanner('Avro struct', avroStruct()),
  scanner('Avro schema', (text) => parseAvroSchema(text)),
  scanner('Avro schema name', (text) => parseAvroSchema(`{"type":"record","name":${json(text)},"fields":[]}`)),
  scanner('JSON schema', parseJson),
  scanner('Protobuf schema', (text) => parseProtobuf(text, [])),
  scanner('Protobuf message', (text) => parseProtobuf(`syntax = "proto3"; message A { ${text} }`, [])),
];
