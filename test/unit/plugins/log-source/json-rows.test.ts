import assert from 'node:assert/strict';
import { ChangeReader } from '../../../../plugins/log-source/change-reader.ts';
import { ChangeRecords } from '../../../../plugins/log-source/change-records.ts';
import { LogMetrics } from '../../../../plugins/log-source/log-metrics.ts';
import { decodeLogMessage } from '../../../../plugins/log-source/pgoutput.ts';
import { RecordBlocks } from '../../../../plugins/log-source/record-blocks.ts';
import { logSettings } from '../../../../plugins/log-source/settings.ts';
import type { Executor } from '../../../../plugins/database/index.ts';
import { jsonEncoding } from '../../../../src/connect/source/source-block.ts';
import { JsonConverter, jsonConverterOptions } from '../../../../src/converters/json-converter.ts';
import { simpleHeaderConverterPlugin } from '../../../../src/converters/simple-header-converter.ts';
import { parseOptions } from '../../../../src/config/parse.ts';
import { silentLogger } from '../../../../src/observe/logger.ts';
import type { SourceRecord } from '../../../../src/index.ts';
import { Draw } from '../../../support/random.ts';

const DOUBLES = [
  ...['0', '-0', '1.5', '-7', '9999999', '10000000', '12345678.9', '0.001', '0.00099', '0.0001', '1e+300', 'NaN'],
  ...['-Infinity', '0.1234567890123', '1234567.12345678', '1234567.123456789', '0.30000000000000004'],
];
const ZONED_TIMESTAMPS = [
  ...['2026-11-27 01:02:03.4+00', '2026-11-27 01:02:03+00', '2026-11-27 01:02:03.456789+00', '2026-11-27 01:02:03+02'],
  ...['12026-11-27 01:02:03+00', '0044-03-15 10:00:00+00 BC', '0044-03-15 10:00:00.5+00 BC', 'infinity', '-infinity'],
];

/** Names and numbers of types, with texts that the server has for their values. */
const TYPES: readonly (readonly [name: string, oid: number, texts: readonly string[]])[] = [
  ['int4', 23, ['0', '-1', '2147483647']],
  ['int8', 20, ['9223372036854775807', '-9223372036854775808', '7']],
  ['int2', 21, ['-32768', '12']],
  ['bool', 16, ['t', 'f']],
  ['float8', 701, DOUBLES],
  ['float4', 700, ['3.4e+38', '0.1', '7']],
  ['numeric', 1700, ['12.340', '-0.5', '3', '0.000', '0.0005', '100000000000000000000', 'NaN']],
  ['text', 25, ['', 'plain', 'quote " and \\', 'tab\t', 'ä€😀', 'x'.repeat(300), '\u007f']],
  ['bytea', 17, ['\\x', '\\x00ff10']],
  ['date', 1082, ['2026-11-27', 'infinity', '0044-03-15 BC']],
  ['time', 1083, ['12:34:56.789', '24:00:00']],
  ['timestamp', 1114, ['2026-11-27 01:02:03.456789', '-infinity']],
  ['timestamptz', 1184, ZONED_TIMESTAMPS],
  ['interval', 1186, ['1 year 2 mons 3 days 04:05:06.7']],
  ['uuid', 2950, ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11']],
  ['jsonb', 3802, ['{"a": [1, "ü"]}']],
  ['bit', 1560, ['1', '0101']],
];
const OID = 16_400;
/** Rows of a seed. */
const ROWS = 40;

interface Column {
  readonly name: string;
  readonly type: (typeof TYPES)[number];
  readonly modifier: number;
  readonly isRequired: boolean;
  readonly defaultSql: string | null;
}

function drawColumns(draw: Draw): readonly Column[] {
  return Array.from({ length: draw.between(1, 8) }, (_none, index) => {
    const type = draw.pick(TYPES);
    return {
      name: draw.pick(['c', 'Spalte ä', 'with "quotes"']) + String(index),
      type,
      modifier: type[0].startsWith('time') ? draw.pick([-1, 0, 3]) : -1,
      isRequired: draw.chance(0.3),
      defaultSql: null,
    };
  });
}

class Bytes {
  readonly #parts: Buffer[] = [];

  text(text: string): this {
    this.#parts.push(Buffer.from(text));
    return this;
  }

  number(value: number | bigint, bytes: number): this {
    const part = Buffer.alloc(8);
    part.writeBigInt64BE(BigInt(value));
    this.#parts.push(part.subarray(8 - bytes));
    return this;
  }

  get all(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

const UNCHANGED = Symbol('unchanged');

type Cell = string | null | typeof UNCHANGED;

function row(cells: readonly Cell[]): Buffer {
  const bytes = new Bytes().number(cells.length, 2);
  for (const cell of cells) {
    if (cell === null) bytes.text('n');
    else if (typeof cell === 'symbol') bytes.text('u');
    else bytes.text('t').number(Buffer.byteLength(cell), 4).text(cell);
  }
  return bytes.all;
}

function drawCells(columns: readonly Column[], draw: Draw, canBeUnchanged: boolean): Cell[] {
  return columns.map(({ type: [, , texts], isRequired }) => {
    if (!isRequired && draw.chance(0.15)) return null;
    return canBeUnchanged && draw.chance(0.1) ? UNCHANGED : draw.pick(texts);
  });
}

function changes(columns: readonly Column[], draw: Draw): Buffer[] {
  const relation = new Bytes().text('R').number(OID, 4).text('public\0t\0d').number(columns.length, 2);
  for (const [index, { name, type, modifier }] of columns.entries()) {
    relation
      .number(index === 0 ? 1 : 0, 1)
      .text(`${name}\0`)
      .number(type[1], 4)
      .number(modifier, 4);
  }
  const messages = [relation.all];
  for (let xid = 1; xid <= ROWS / 4; xid++) {
    const micros = 800_000_000_000_000n + BigInt(draw.between(0, 10 ** 9));
    messages.push(
      new Bytes()
        .text('B')
        .number(xid * 1000, 8)
        .number(micros, 8)
        .number(xid, 4).all,
    );
    if (draw.chance(0.2)) messages.push(new Bytes().text('O').number(xid, 8).text('elsewhere\0').all);
    for (let left = draw.between(1, 6); left > 0; left--) messages.push(change(columns, draw));
    const ends = new Bytes()
      .text('C')
      .number(0, 1)
      .number(xid * 1000, 8)
      .number(xid * 1000 + 50, 8)
      .number(micros, 8);
    messages.push(ends.all);
  }
  return messages;
}

function change(columns: readonly Column[], draw: Draw): Buffer {
  const kind = draw.pick(['insert', 'insert', 'update', 'whole', 'key', 'delete']);
  const head = (type: string): Bytes => new Bytes().text(type).number(OID, 4);
  const old = drawCells(columns, draw, false);
  const after = drawCells(columns, draw, kind !== 'insert');
  if (draw.chance(0.7)) after[0] = old[0] ?? null;
  if (kind === 'insert') return Buffer.concat([head('I').text('N').all, row(after)]);
  if (kind === 'update') return Buffer.concat([head('U').text('N').all, row(after)]);
  const key = old.map((cell, index) => (index === 0 ? cell : null));
  if (kind === 'delete') return Buffer.concat([head('D').text('K').all, row(key)]);
  const [mark, before] = kind === 'whole' ? ['O', old] : ['K', key];
  return Buffer.concat([head('U').text(mark).all, row(before), Buffer.from('N'), row(after)]);
}

/** Answers what the log source reads of the catalogue. */
function catalogueOf(columns: readonly Column[]): Executor {
  const ask = (statement: object): Promise<{ rows: unknown[][] }> => {
    const text = JSON.stringify(statement);
    const flag = (is: boolean): string => (is ? 't' : 'f');
    if (text.includes('log source: columns')) {
      const rows = columns.map(({ name, type, isRequired, defaultSql }) => {
        return [name, String(type[1]), '-1', flag(isRequired), 'f', defaultSql];
      });
      return Promise.resolve({ rows });
    }
    if (text.includes('log source: key')) {
      return Promise.resolve({ rows: [[JSON.stringify(columns.slice(0, 1).map(({ name }) => name))]] });
    }
    return Promise.resolve({ rows: TYPES.map(([name, oid]) => [String(oid), name, 'b', '0', '0', '-1', '[]']) });
  };
  return { ask } as unknown as Executor;
}

function settingsOf(draw: Draw) {
  return logSettings({
    name: 'rows',
    'connector.class': 'io.debezium.connector.postgresql.PostgresConnector',
    'topic.prefix': 'p',
    'database.hostname': 'localhost',
    'database.user': 'u',
    'database.password': 'p',
    'database.dbname': 'd',
    'decimal.handling.mode': draw.pick(['precise', 'double', 'string']),
    'time.precision.mode': draw.pick(['adaptive', 'connect', 'isostring', 'microseconds']),
    'binary.handling.mode': draw.pick(['bytes', 'base64', 'hex']),
    ...(draw.chance(0.3) ? { 'column.mask.with.5.chars': 'public\\.t\\.c.*' } : {}),
  });
}

interface Written {
  readonly key: string | null;
  readonly value: string | null;
}

describe('the JSON of inserts and updates', () => {
  const now = Date.now;

  beforeEach(() => (Date.now = () => 1_796_000_000_123));
  afterEach(() => (Date.now = now));

  it('is that of their records, for random rows of all types', async () => {
    let packed = 0;
    for (let seed = 1; seed <= 300; seed++) {
      const draw = new Draw(seed);
      const columns = drawColumns(draw);
      const settings = settingsOf(draw);
      const converter = new JsonConverter(
        parseOptions(jsonConverterOptions, { 'schemas.enable': 'false', 'converter.type': 'value' }),
        false,
      );
      const header = simpleHeaderConverterPlugin.create({});
      const json = jsonEncoding({
        key: converter,
        value: converter,
        header,
        keyClass: '',
        valueClass: '',
        headerClass: '',
      });
      assert.ok(json !== undefined);
      const records = new ChangeRecords(settings, 0);
      const parts = { executor: catalogueOf(columns), settings, records, metrics: new LogMetrics(settings) };
      const start = { lastCommit: undefined, last: undefined, log: undefined, idle: undefined };
      const fast = new ChangeReader({ ...parts, logger: silentLogger, json }, start);
      const slow = new ChangeReader({ ...parts, logger: silentLogger, json: undefined }, start);
      const bytesOf = ({ topic, keySchema, key, valueSchema, value }: SourceRecord): Written => {
        try {
          return {
            key: text(converter.fromConnectData(topic, keySchema, key)),
            value: text(converter.fromConnectData(topic, valueSchema, value)),
          };
        } catch (error) {
          return { key: null, value: String(error) };
        }
      };
      const both: [Written[], Written[]] = [[], []];
      let lsn = 100n;
      for (const message of changes(columns, draw)) {
        lsn += 10n;
        const made = await slow.recordsOf(decodeLogMessage(message), lsn);
        both[0].push(
          ...made.map((each) => ('value' in each ? bytesOf(each) : { key: null, value: each.error.message })),
        );
        const blocks = new RecordBlocks(records.partition, (topic) => json.headers(topic, records.headers));
        if (fast.pack({ lsn, bytes: message, start: 0, end: message.length }, blocks)) {
          packed += 1;
          const entries = blocks.take({}, {}).flatMap((block) => block.packed.entries());
          both[1].push(...entries.map(({ key, value }) => ({ key: text(key), value: text(value) })));
        } else {
          const left = await fast.recordsOf(decodeLogMessage(message), lsn);
          both[1].push(
            ...left.map((each) => ('value' in each ? bytesOf(each) : { key: null, value: each.error.message })),
          );
        }
      }
      assert.deepEqual(both[1], both[0], `seed ${String(seed)}`);
      assert.deepEqual(fast.position, slow.position);
    }
    assert.ok(packed > 3_000, String(packed));
  });
});

function text(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('utf8');
}
