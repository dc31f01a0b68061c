import assert from 'node:assert/strict';
import type { HeaderConverter, HeaderConverterPlugin } from '../../../src/connect/api.ts';
import { converterPlugins } from '../../../src/converters/registry.ts';
import { Decimal, TypedNumber, type ConnectValue } from '../../../src/data/value.ts';

function headerConverter(name: string, config: Record<string, string> = {}): HeaderConverter {
  const plugin = converterPlugins().find(
    (each): each is HeaderConverterPlugin => each.type === 'header_converter' && each.className.endsWith(`.${name}`),
  );
  assert.ok(plugin);
  return plugin.create(config);
}

const simple = headerConverter('SimpleHeaderConverter');
const read = (text: string): ConnectValue => simple.toConnectHeader('t', 'h', Buffer.from(text)).value;
const typeOf = (text: string) => simple.toConnectHeader('t', 'h', Buffer.from(text)).schema?.type;

describe('SimpleHeaderConverter', () => {
  it('takes the smallest number type that fits', () => {
    assert.deepEqual(
      ['1.0', '128', '40000', '3000000000', '0.1', '1e39', 'NaN'].map((text) => [read(text), typeOf(text)]),
      [
        [1, 'int8'],
        [128, 'int16'],
        [40000, 'int32'],
        [3000000000n, 'int64'],
        [Math.fround(0.1), 'float32'],
        [1e39, 'float64'],
        ['NaN', 'string'],
      ],
    );
    assert.deepEqual(read('9223372036854775808'), new Decimal(9223372036854775808n, 0));
  });

  it('does not try to write out a number with a huge exponent', () => {
    assert.deepEqual(read('1e2000000000'), new Decimal(1n, -2000000000));
    assert.equal(read('0e2000000000'), 0);
  });

  it('knows the width of numbers in a list of mixed types', () => {
    assert.deepEqual(read('[1,"a"]'), [new TypedNumber('int8', 1), 'a']);
    assert.deepEqual(read('[1,200]'), [1, 200]);
  });

  it('reads dates as Java does, rolling over and by the Julian calendar before 1582', () => {
    const iso = (text: string) => (read(text) as Date).toISOString();
    assert.equal(iso('2020-13-45'), '2021-02-14T00:00:00.000Z');
    assert.equal(iso('1500-01-01'), '1500-01-10T00:00:00.000Z');
    assert.equal(iso('25:61:61.999Z'), '1970-01-02T02:02:01.999Z');
    assert.equal(iso('2020-01-02T03:04:05.006Z'), '2020-01-02T03:04:05.006Z');
  });

  it('reads at most 10,000 elements, keys and values; a longer list or map is a string (S12)', () => {
    const list = (count: number) => `[${'1,'.repeat(count - 1)}1]`;
    assert.deepEqual(
      read(list(9_999)),
      Array.from({ length: 9_999 }, () => 1),
    );
    assert.equal(read(list(10_000)), list(10_000));
    const map = (count: number) => `{${Array.from({ length: count }, (_, index) => `${String(index)}:1`).join(',')}}`;
    assert.ok(read(map(4_999)) instanceof Map);
    assert.equal(read(map(5_000)), map(5_000));
  });

  it('gives null for the text null', () => {
    assert.deepEqual(simple.toConnectHeader('t', 'h', Buffer.from('null')), { schema: null, value: null });
  });
});

describe('StringConverter', () => {
  it('writes and reads other charsets, with ? for what they do not have', () => {
    const text = 'é€😀';
    const encoded = (encoding: string) => {
      const converter = headerConverter('StringConverter', { 'converter.encoding': encoding });
      const bytes = converter.fromConnectHeader('t', 'h', null, text);
      return [Buffer.from(bytes ?? []).toString('hex'), converter.toConnectHeader('t', 'h', bytes).value];
    };
    assert.deepEqual(encoded('ISO-8859-1'), ['e93f3f', 'é??']);
    assert.deepEqual(encoded('windows-1252'), ['e9803f', 'é€?']);
    assert.deepEqual(encoded('UTF-16LE'), ['e900ac203dd800de', text]);
    assert.deepEqual(encoded('UTF8'), ['c3a9e282acf09f9880', text]);
    assert.deepEqual(encoded('Shift_JIS')[1], '???');
  });

  it('writes U+FFFD for a lone surrogate in UTF-16', () => {
    const written = (encoding: string) => {
      const converter = headerConverter('StringConverter', { 'converter.encoding': encoding });
      return Buffer.from(converter.fromConnectHeader('t', 'h', null, 'a\udc00b😀') ?? []).toString('hex');
    };
    assert.equal(written('UTF-16BE'), '0061fffd0062d83dde00');
    assert.equal(written('UTF-16LE'), '6100fdff62003dd800de');
    assert.equal(written('UTF-16'), 'feff0061fffd0062d83dde00');
  });

  it('writes bytes as base64, where Java prints an address', () => {
    const converter = headerConverter('StringConverter');
    assert.equal(String(converter.fromConnectHeader('t', 'h', null, Uint8Array.of(1, 2))), 'AQI=');
  });
});
