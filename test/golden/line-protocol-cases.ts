import type { Cell } from '../../src/data/row-batch.ts';
import type { Precision } from '../../plugins/database/formats/format.ts';
import type { LineType } from '../../plugins/database/formats/line-lp/line-value.ts';
import type { StringEscapes } from '../../plugins/database/formats/line-lp/line-scan.ts';

/** The content of one line. `time` is in nanoseconds, or absent if the line has none. */
export interface Line {
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, readonly [type: LineType, cell: Cell]>>;
  readonly time: string | undefined;
}

/** A text and its lines. */
export interface AcceptedCase {
  readonly text: string | Uint8Array;
  readonly lines: readonly Line[];
  readonly precision?: Precision;
  readonly escapes?: StringEscapes;
}

/** A text with one bad line, and the problem that is reported. */
export interface RefusedCase {
  readonly text: string | Uint8Array;
  readonly problem: string;
  readonly precision?: Precision;
}

function line(name: string, tags: Line['tags'], fields: Line['fields'], time?: string): Line {
  return { name, tags, fields, time };
}

/** A line of the table `m` with one field `f`. */
function value(type: LineType, cell: Cell): readonly Line[] {
  return [line('m', {}, { f: [type, cell] })];
}

function floats(...names: readonly string[]): Line['fields'] {
  return Object.fromEntries(names.map((name) => [name, ['FLOAT8', 1] as const]));
}

const PLAIN = [line('m', {}, floats('f'))];
const AT_5 = [line('m', {}, floats('f'), '5')];

/** Bytes of a text in which `?` represents a byte that is not UTF-8. */
function broken(text: string): Uint8Array {
  return Buffer.from(text, 'latin1').map((byte) => (byte === 63 ? 0xff : byte));
}

function many(count: number, item: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => item(index)).join(',');
}

/** Texts of line protocol that are read, by what they have. */
export const ACCEPTED: Readonly<Record<string, readonly AcceptedCase[]>> = {
  'a measurement': [
    { text: 'm f=1', lines: PLAIN },
    { text: 'métier🚀 f=1', lines: [line('métier🚀', {}, floats('f'))] },
    { text: Buffer.from('métier🚀 f=1'), lines: [line('métier🚀', {}, floats('f'))] },
    { text: Buffer.from('m f=1'), lines: PLAIN },
    { text: 'a=b f=1', lines: [line('a=b', {}, floats('f'))] },
    { text: '"m" f=1', lines: [line('"m"', {}, floats('f'))] },
    { text: 'm# f=1', lines: [line('m#', {}, floats('f'))] },
    { text: String.raw`\#m f=1`, lines: [line(String.raw`\#m`, {}, floats('f'))] },
    { text: String.raw`a\ b\,c f=1`, lines: [line('a b,c', {}, floats('f'))] },
    { text: String.raw`a\=b f=1`, lines: [line(String.raw`a\=b`, {}, floats('f'))] },
    { text: String.raw`a\\b f=1`, lines: [line(String.raw`a\\b`, {}, floats('f'))] },
    { text: String.raw`\m\n f=1`, lines: [line(String.raw`\m\n`, {}, floats('f'))] },
    { text: String.raw`a\\ b f=1`, lines: [line(String.raw`a\ b`, {}, floats('f'))] },
    { text: String.raw`\ ,t=x f=1`, lines: [line(' ', { t: 'x' }, floats('f'))] },
  ],
  tags: [
    { text: 'm,t=x f=1', lines: [line('m', { t: 'x' }, floats('f'))] },
    { text: 'm,b=1,a=2,ä=3 f=1', lines: [line('m', { b: '1', a: '2', ä: '3' }, floats('f'))] },
    { text: String.raw`m,a\ b=c\ d f=1`, lines: [line('m', { 'a b': 'c d' }, floats('f'))] },
    { text: String.raw`m,a\,b=c\,d f=1`, lines: [line('m', { 'a,b': 'c,d' }, floats('f'))] },
    { text: String.raw`m,a\=b=c\=d f=1`, lines: [line('m', { 'a=b': 'c=d' }, floats('f'))] },
    { text: String.raw`m,a\b=c\\d f=1`, lines: [line('m', { [String.raw`a\b`]: String.raw`c\\d` }, floats('f'))] },
    { text: String.raw`m,a\\ b=c\\,d f=1`, lines: [line('m', { 'a\\ b': String.raw`c\,d` }, floats('f'))] },
    { text: 'm,t="x",u=\'y\' f=1', lines: [line('m', { t: '"x"', u: "'y'" }, floats('f'))] },
    { text: 'm,#t=# f=1', lines: [line('m', { '#t': '#' }, floats('f'))] },
    { text: 'm,t=1i,u=true f=1', lines: [line('m', { t: '1i', u: 'true' }, floats('f'))] },
    { text: 'm,t=x   f=1', lines: [line('m', { t: 'x' }, floats('f'))] },
  ],
  'names of fields': [
    { text: 'm a=1,b=1,ç=1', lines: [line('m', {}, floats('a', 'b', 'ç'))] },
    { text: String.raw`m a\ b=1,c\,d=1,e\=f=1`, lines: [line('m', {}, floats('a b', 'c,d', 'e=f'))] },
    { text: String.raw`m a\b=1,c\\d=1`, lines: [line('m', {}, floats(String.raw`a\b`, String.raw`c\\d`))] },
    { text: 'm "f"=1,#=1', lines: [line('m', {}, floats('"f"', '#'))] },
    { text: 'm   f=1', lines: PLAIN },
  ],
  floats: [
    ...['1', '1.', '1.0', '01', '1e0', '1E0', '1e+0', '10e-1', '0.1e1', '.1e1', '1.0000000000000000000'].map(
      (text) => ({ text: `m f=${text}`, lines: value('FLOAT8', 1) }),
    ),
    { text: 'm f=-1', lines: value('FLOAT8', -1) },
    { text: 'm f=-.5', lines: value('FLOAT8', -0.5) },
    { text: 'm f=-0.25', lines: value('FLOAT8', -0.25) },
    { text: 'm f=0', lines: value('FLOAT8', 0) },
    { text: 'm f=-0', lines: value('FLOAT8', -0) },
    { text: 'm f=0.1', lines: value('FLOAT8', 0.1) },
    { text: 'm f=123456789.123456', lines: value('FLOAT8', 123_456_789.123456) },
    { text: 'm f=123456789.123456789012', lines: value('FLOAT8', 123_456_789.123456789012) },
    { text: 'm f=1234567890123456', lines: value('FLOAT8', 1_234_567_890_123_456) },
    { text: 'm f=9007199254740992', lines: value('FLOAT8', 9_007_199_254_740_992) },
    { text: 'm f=9007199254740993', lines: value('NUMERIC', '9007199254740993') },
    { text: 'm f=9007199254740993.0', lines: value('FLOAT8', 9_007_199_254_740_992) },
    { text: 'm f=1.7976931348623157e308', lines: value('FLOAT8', Number.MAX_VALUE) },
    { text: 'm f=-1.7976931348623157E+308', lines: value('FLOAT8', -Number.MAX_VALUE) },
    { text: 'm f=5e-324', lines: value('FLOAT8', Number.MIN_VALUE) },
    { text: 'm f=1e-400', lines: value('FLOAT8', 0) },
    { text: `m f=0.${'3'.repeat(400)}`, lines: value('FLOAT8', 1 / 3) },
    { text: 'm f=1.5f64', lines: value('FLOAT8', 1.5) },
    { text: 'm f=9007199254740993f64', lines: value('FLOAT8', 9_007_199_254_740_992) },
    { text: 'm f=-1.5e3f32', lines: value('FLOAT4', -1500) },
    { text: 'm f=3.4028235e38f32', lines: value('FLOAT4', 3.4028235e38) },
  ],
  integers: [
    { text: 'm f=7i', lines: value('INT8', 7) },
    { text: 'm f=-7i', lines: value('INT8', -7) },
    { text: 'm f=0i', lines: value('INT8', 0) },
    { text: 'm f=-0i', lines: value('INT8', 0) },
    { text: 'm f=007i', lines: value('INT8', 7) },
    { text: 'm f=999999999999999i', lines: value('INT8', 999_999_999_999_999) },
    { text: 'm f=9007199254740993i', lines: value('INT8', 9_007_199_254_740_993n) },
    { text: 'm f=9223372036854775807i', lines: value('INT8', 2n ** 63n - 1n) },
    { text: 'm f=-9223372036854775808i', lines: value('INT8', -(2n ** 63n)) },
    { text: `m f=-${'0'.repeat(50)}9223372036854775808i`, lines: value('INT8', -(2n ** 63n)) },
    { text: 'm f=7i64', lines: value('INT8', 7) },
    { text: 'm f=2147483647i32', lines: value('INT4', 2_147_483_647) },
    { text: 'm f=-2147483648i32', lines: value('INT4', -2_147_483_648) },
    { text: 'm f=32767i16', lines: value('INT2', 32_767) },
    { text: 'm f=-32768i16', lines: value('INT2', -32_768) },
    { text: 'm f=0u', lines: value('UINT8', 0) },
    { text: 'm f=18446744073709551615u', lines: value('UINT8', 2n ** 64n - 1n) },
    { text: 'm f=1700000000123456t', lines: value('TIMESTAMPTZ', 1_700_000_000_123_456) },
    { text: 'm f=-1t', lines: value('TIMESTAMPTZ', -1) },
  ],
  booleans: [
    ...['t', 'T', 'true', 'True', 'TRUE'].map((text) => ({ text: `m f=${text}`, lines: value('BOOL', true) })),
    ...['f', 'F', 'false', 'False', 'FALSE'].map((text) => ({ text: `m f=${text}`, lines: value('BOOL', false) })),
  ],
  strings: [
    { text: 'm f=""', lines: value('VARCHAR', '') },
    { text: 'm f="a b,c=d #e \'g\'"', lines: value('VARCHAR', "a b,c=d #e 'g'") },
    { text: 'm f="héllo 🚀"', lines: value('VARCHAR', 'héllo 🚀') },
    { text: 'm f="a\tb\u0000c\u007f"', lines: value('VARCHAR', 'a\tb\u0000c\u007f') },
    { text: String.raw`m f="say \"x\" \\ \n \ \, \="`, lines: value('VARCHAR', String.raw`say "x" \ \n \ \, \=`) },
    { text: String.raw`m f="\\\\"`, lines: value('VARCHAR', String.raw`\\`) },
    { text: String.raw`m f="\\\""`, lines: value('VARCHAR', String.raw`\"`) },
    { text: 'm f="a\nb\r\nc"', lines: value('VARCHAR', 'a\nb\r\nc') },
    { text: 'm f="a\rb"', lines: value('VARCHAR', 'a\rb') },
    {
      text: String.raw`m f="a\ b\,c\=d\"e\\g\n"`,
      lines: value('VARCHAR', String.raw`a b,c=d"e\g\n`),
      escapes: 'documented',
    },
    { text: String.raw`m f='a\ b\,c\=d\'e\\g"'`, lines: value('VARCHAR', String.raw`a b,c=d'e\g"`) },
    { text: String.raw`m f=L"a\ b\"c'"`, lines: value('NVARCHAR', `a b"c'`) },
    {
      text: 'm a="x",b="y" 5',
      lines: [line('m', {}, { a: ['VARCHAR', 'x'], b: ['VARCHAR', 'y'] }, '5')],
    },
  ],
  timestamps: [
    { text: 'm f=1 5', lines: AT_5 },
    { text: 'm f=1 005', lines: [line('m', {}, floats('f'), '5')] },
    { text: 'm f=1    5   ', lines: AT_5 },
    { text: 'm f=1   ', lines: PLAIN },
    { text: 'm f=1 0', lines: [line('m', {}, floats('f'), '0')] },
    { text: 'm f=1 -0', lines: [line('m', {}, floats('f'), '0')] },
    { text: 'm f=1 -1', lines: [line('m', {}, floats('f'), '-1')] },
    { text: 'm f=1 -1999', lines: [line('m', {}, floats('f'), '-1999')] },
    { text: 'm f=1 1700000000123456789', lines: [line('m', {}, floats('f'), '1700000000123456789')] },
    { text: 'm f=1 9223372036854775807', lines: [line('m', {}, floats('f'), '9223372036854775807')] },
    { text: 'm f=1 -9223372036854775808', lines: [line('m', {}, floats('f'), '-9223372036854775808')] },
    { text: 'm f=1 -5', lines: [line('m', {}, floats('f'), '-5000')], precision: 'us' },
    { text: 'm f=1 1700000000123', lines: [line('m', {}, floats('f'), '1700000000123000000')], precision: 'ms' },
    { text: 'm f=1 -5', lines: [line('m', {}, floats('f'), '-5000000000')], precision: 's' },
    { text: 'm f=1 9224318015999', lines: [line('m', {}, floats('f'), '9224318015999000000000')], precision: 's' },
    { text: 'm f=1', lines: PLAIN, precision: 's' },
  ],
  'line ends, blank lines and comments': [
    { text: '', lines: [] },
    { text: '\n', lines: [] },
    { text: '   \n  \r\n \r', lines: [] },
    { text: '# only this', lines: [] },
    { text: '#', lines: [] },
    { text: ' # m f=1\n', lines: [] },
    { text: '# é "\n#\r\nm f=1', lines: PLAIN },
    { text: '  m f=1', lines: PLAIN },
    { text: '\r\n\n  \nm f=1', lines: PLAIN },
    { text: 'm f=1\n', lines: PLAIN },
    { text: 'm f=1\r\n', lines: PLAIN },
    { text: 'm f=1\r', lines: PLAIN },
    { text: 'm f=1 5\r\n', lines: AT_5 },
    { text: 'm f=1 5\r', lines: AT_5 },
    { text: 'm f=1 5 \n', lines: AT_5 },
    { text: 'm f=1 5\n\n\nm f=1 5', lines: [...AT_5, ...AT_5] },
    { text: 'm f=1 5\r\nm f=1 5\nm f=1 5', lines: [...AT_5, ...AT_5, ...AT_5] },
    { text: 'm f=1\r\nm f=1\nm f=1', lines: [...PLAIN, ...PLAIN, ...PLAIN] },
    { text: 'm f=1 5\n# between\nm f=1 5\n# after', lines: [...AT_5, ...AT_5] },
    {
      text: 'm,t=x f="a\n# no comment\n" 5\nm,t=x f="" 5',
      lines: ['a\n# no comment\n', ''].map((text) => line('m', { t: 'x' }, { f: ['VARCHAR', text] }, '5')),
    },
  ],
  'several lines': [
    {
      text: 'a,t=x f=1i,g="p" 1\na,t=y f=2i,g="q" 2\nb f=t 3\na,t=x f=-3i,g="r" 4\na,t=x g="s",f=4i 5\na f=5i 6',
      lines: [
        line('a', { t: 'x' }, { f: ['INT8', 1], g: ['VARCHAR', 'p'] }, '1'),
        line('a', { t: 'y' }, { f: ['INT8', 2], g: ['VARCHAR', 'q'] }, '2'),
        line('b', {}, { f: ['BOOL', true] }, '3'),
        line('a', { t: 'x' }, { f: ['INT8', -3], g: ['VARCHAR', 'r'] }, '4'),
        line('a', { t: 'x' }, { g: ['VARCHAR', 's'], f: ['INT8', 4] }, '5'),
        line('a', {}, { f: ['INT8', 5] }, '6'),
      ],
    },
    {
      text: 'm f=1\nm f=-2.5\nm f=1e3\nm f=0.1234567890123456789\nm f=12345678901234567890',
      lines: ['1', '-2.5', '1e3', '0.1234567890123456789']
        .map((text) => value('FLOAT8', Number(text))[0] ?? line('', {}, {}))
        .concat(value('NUMERIC', '12345678901234567890')),
    },
    {
      text: 'm f=1i\nm f=9223372036854775807i\nm f=-1i\nm f=1700000000000000i',
      lines: [1, 2n ** 63n - 1n, -1, 1_700_000_000_000_000].flatMap((cell) => value('INT8', cell)),
    },
    {
      text: 'm f=t\nm f="x"\nm f=f\nm f=1i',
      lines: [...value('BOOL', true), ...value('VARCHAR', 'x'), ...value('BOOL', false), ...value('INT8', 1)],
    },
    { text: 'm f=1\nm f="x"\nm f=2', lines: [...value('FLOAT8', 1), ...value('VARCHAR', 'x'), ...value('FLOAT8', 2)] },
    {
      text: 'm,a=1 f=1\nm,b=1 f=1\nm f=1,g=1\nm f=1',
      lines: [
        line('m', { a: '1' }, floats('f')),
        line('m', { b: '1' }, floats('f')),
        line('m', {}, floats('f', 'g')),
        line('m', {}, floats('f')),
      ],
    },
  ],
  limits: [
    {
      text: `m,${many(1_600, (index) => `t${String(index)}=x`)} f=1`,
      lines: [
        line(
          'm',
          Object.fromEntries(Array.from({ length: 1_600 }, (_, index) => [`t${String(index)}`, 'x'])),
          floats('f'),
        ),
      ],
    },
    {
      text: `m ${many(1_600, (index) => `f${String(index)}=1`)}`,
      lines: [line('m', {}, floats(...Array.from({ length: 1_600 }, (_, index) => `f${String(index)}`)))],
    },
    { text: `m f="${'x'.repeat(1_000_000)}"`, lines: value('VARCHAR', 'x'.repeat(1_000_000)) },
    { text: `${'m'.repeat(100_000)} f=1`, lines: [line('m'.repeat(100_000), {}, floats('f'))] },
  ],
};

const NO_TAG_OR_FIELD = 'expected a comma and a tag, or a space and a field, found';
const NO_END = "expected a comma, a space or the line's end, found";

/** Texts with one bad line, by what is wrong with it. */
export const REFUSED: Readonly<Record<string, readonly RefusedCase[]>> = {
  'a measurement': [
    { text: ',t=x f=1', problem: 'a line must start with the name of a table, not ","' },
    { text: '\tm f=1', problem: 'a line must start with the name of a table, not a tab' },
    { text: '\u007fm f=1', problem: 'a line must start with the name of a table, not "\u007f"' },
    { text: 'm', problem: `${NO_TAG_OR_FIELD} the line's end` },
    { text: 'm\r\n', problem: `${NO_TAG_OR_FIELD} the line's end` },
    { text: 'm\tf=1', problem: `${NO_TAG_OR_FIELD} a tab` },
    { text: 'm\u0001 f=1', problem: `${NO_TAG_OR_FIELD} "\\u0001"` },
    { text: String.raw`m\ f=1`, problem: `${NO_TAG_OR_FIELD} the line's end` },
    { text: broken('m? f=1'), problem: 'the text is not UTF-8' },
  ],
  tags: [
    { text: 'm, f=1', problem: 'expected the name of a tag, found " "' },
    { text: 'm,', problem: "expected the name of a tag, found the line's end" },
    { text: 'm,=x f=1', problem: 'expected the name of a tag, found "="' },
    { text: 'm,,t=x f=1', problem: 'expected the name of a tag, found ","' },
    { text: 'm,t f=1', problem: 'expected = after the tag "t", found " "' },
    { text: 'm,t,u=x f=1', problem: 'expected = after the tag "t", found ","' },
    { text: 'm,t\t=x f=1', problem: 'expected = after the tag "t", found a tab' },
    { text: 'm,t= f=1', problem: 'the tag "t" has no value (found " ")' },
    { text: 'm,t=,u=x f=1', problem: 'the tag "t" has no value (found ",")' },
    { text: 'm,t=x=y f=1', problem: `${NO_TAG_OR_FIELD} "="` },
    { text: 'm,t=x', problem: `${NO_TAG_OR_FIELD} the line's end` },
    { text: 'm,t=x\tf=1', problem: `${NO_TAG_OR_FIELD} a tab` },
    { text: 'm,t=x,t=y f=1', problem: 'multiple assignments to the same column "t"' },
    {
      text: 'm,time\\ of\\ the\\ row=x f=1',
      problem: '"time of the row" is the time column\'s name and cannot be a tag or a field',
    },
    { text: broken('m,?=x f=1'), problem: 'the text is not UTF-8' },
    { text: broken('m,t=? f=1'), problem: 'the text is not UTF-8' },
    { text: `m,${many(1_601, (index) => `t${String(index)}=x`)} f=1`, problem: 'a line has at most 1600 tags' },
  ],
  'names of fields': [
    { text: 'm ', problem: "expected the name of a field, found the line's end" },
    { text: 'm =1', problem: 'expected the name of a field, found "="' },
    { text: 'm ,f=1', problem: 'expected the name of a field, found ","' },
    { text: 'm f=1,', problem: "expected the name of a field, found the line's end" },
    { text: 'm f=1,=1', problem: 'expected the name of a field, found "="' },
    { text: 'm f=1, g=1', problem: 'expected the name of a field, found " "' },
    { text: 'm f', problem: 'expected = after the field "f", found the line\'s end' },
    { text: 'm f 5', problem: 'expected = after the field "f", found " "' },
    { text: 'm f=1,g', problem: 'expected = after the field "g", found the line\'s end' },
    { text: 'm f\t=1', problem: 'expected = after the field "f", found a tab' },
    { text: 'm f=1,f=1', problem: 'multiple assignments to the same column "f"' },
    { text: 'm,f=x f=1', problem: 'multiple assignments to the same column "f"' },
    { text: broken('m ?=1'), problem: 'the text is not UTF-8' },
    { text: `m ${many(1_601, (index) => `f${String(index)}=1`)}`, problem: 'a line has at most 1600 fields' },
  ],
  values: [
    { text: 'm f=', problem: 'field "f": expected a value, found the line\'s end' },
    { text: 'm f= 5', problem: 'field "f": expected a value, found " "' },
    { text: 'm f=,g=1', problem: 'field "f": expected a value, found ","' },
    ...[
      'x',
      '-',
      '+1',
      '1_0',
      '0x1',
      '.',
      '-.',
      'e1',
      '1e',
      '1e+',
      '1.5.5',
      '--1',
      '1-',
      '1;',
      'NaN',
      'inf',
      '-Inf',
    ].map((text) => ({ text: `m f=${text}`, problem: `field "f": "${text}" is not a number` })),
    ...['tr', 'tru', 'tRUE', 'TrUE', 'yes', 'fals', 'ff', 'i', '-i', 'u', 'xi16', 'i64'].map((text) => ({
      text: `m f=${text}`,
      problem: `field "f": "${text}" is not a number`,
    })),
    ...['1.5i', '1e3i', '+1i', '1ii', '-1u', '1.0u', '1.5i32'].map((text) => ({
      text: `m f=${text}`,
      problem: `field "f": "${text}" is not an integer`,
    })),
    ...['1.5t', '1et', 'xf32', 'f64', '1ef64'].map((text) => ({
      text: `m f=${text}`,
      problem: `field "f": "${text}" is not a number`,
    })),
    ...[
      ['9223372036854775808i', 'INT8'],
      ['-9223372036854775809i', 'INT8'],
      ['18446744073709551616u', 'UINT8'],
      ['2147483648i32', 'INT4'],
      ['-2147483649i32', 'INT4'],
      ['32768i16', 'INT2'],
      ['-32769i16', 'INT2'],
      ['1e309', 'FLOAT8'],
      ['-1e309', 'FLOAT8'],
      ['1e309f64', 'FLOAT8'],
      ['3.5e38f32', 'FLOAT4'],
      ['99999999999999999999t', 'TIMESTAMPTZ'],
    ].map(([text = '', type = '']) => ({
      text: `m f=${text}`,
      problem: `field "f": "${text}" is out of range for ${type}`,
    })),
    { text: `m f=${'9'.repeat(1_000)}i`, problem: `field "f": "${'9'.repeat(57)}..." is out of range for INT8` },
    { text: `m f=${'9'.repeat(1_000)}`, problem: `field "f": "${'9'.repeat(57)}..." is out of range for FLOAT8` },
    ...['\x0e', '\x10\x00\x00', '\x17'].map((bytes) => ({
      text: `m f==${bytes}`,
      problem:
        'field "f": a binary value, as QuestDB\'s clients write them with protocol_version=2 or 3: leave protocol_version at auto, or set it to 1',
    })),
    { text: 'm f==', problem: 'field "f": "=" is not a number' },
    { text: 'm f=1,g=?', problem: 'field "g": "?" is not a number' },
    { text: 'm f=1=2', problem: 'field "f": "1=2" is not a number' },
    { text: 'm f=1\t5', problem: 'field "f": "1\\t5" is not a number' },
  ],
  strings: [
    { text: 'm f="', problem: 'field "f": a string has no closing "' },
    { text: 'm f="x', problem: 'field "f": a string has no closing "' },
    { text: String.raw`m f="x\"`, problem: 'field "f": a string has no closing "' },
    { text: String.raw`m f="x\\\"`, problem: 'field "f": a string has no closing "' },
    { text: "m f='x", problem: 'field "f": a string has no closing \'' },
    { text: 'm f=L"x', problem: 'field "f": a string has no closing "' },
    { text: 'm f="x"y', problem: `${NO_END} "y"` },
    { text: 'm f="x""y"', problem: `${NO_END} "\\""` },
    { text: 'm f="x"=1', problem: `${NO_END} "="` },
    { text: 'm f="x"\t5', problem: `${NO_END} a tab` },
    { text: 'm f="a\nb"x', problem: `${NO_END} "x" (including its string, the line spans 2 lines)` },
    { text: 'm f=L', problem: 'field "f": "L" is not a number' },
    {
      text: String.raw`m f=\"x\"`,
      problem: String.raw`field "f": "\\\"x\\\"" is not a number: a string starts with a quote without a backslash`,
    },
    { text: broken('m f="?"'), problem: 'field "f": the text is not UTF-8' },
    { text: broken("m f='?'"), problem: 'field "f": the text is not UTF-8' },
  ],
  timestamps: [
    ...['x', '1.5', '1e3', '1i', '+1', '-', '--1', '1-', '0x1', '5\t'].map((text) => ({
      text: `m f=1 ${text}`,
      problem: `the timestamp ${JSON.stringify(text)} is not an integer`,
    })),
    { text: 'm f=1 5 6', problem: 'nothing may follow the timestamp, found "6"' },
    { text: 'm f=1 5 g=1', problem: 'nothing may follow the timestamp, found "g"' },
    { text: 'm f=1 5 # no comment', problem: 'nothing may follow the timestamp, found "#"' },
    { text: 'm f=1 g=1', problem: 'the timestamp "g=1" is not an integer' },
    { text: 'm f=1 9223372036854775808', problem: 'the timestamp 9223372036854775808 is out of range for ns' },
    { text: 'm f=1 -9223372036854775809', problem: 'the timestamp -9223372036854775809 is out of range for ns' },
    {
      text: 'm f=1 9224318016000000000',
      problem: 'the timestamp 9224318016000000000 is out of range for us',
      precision: 'us',
    },
    {
      text: 'm f=1 9224318016000000',
      problem: 'the timestamp 9224318016000000 is out of range for ms',
      precision: 'ms',
    },
    { text: 'm f=1 9224318016000', problem: 'the timestamp 9224318016000 is out of range for s', precision: 's' },
    {
      text: `m f=1 ${'9'.repeat(30)}`,
      problem: `the timestamp ${'9'.repeat(30)} is out of range for s`,
      precision: 's',
    },
  ],
  'line ends and comments': [
    { text: '# a\tb', problem: 'a comment must not contain control characters' },
    { text: '# a\u007f', problem: 'a comment must not contain control characters' },
    { text: '# a\rb', problem: 'a comment must not contain control characters' },
    { text: '\rm f=1', problem: 'a carriage return must be followed by a newline' },
    { text: 'm f=1\rx', problem: `${NO_END} the line's end` },
    { text: 'm f=1 5\rx', problem: "nothing may follow the timestamp, found the line's end" },
    { text: 'm f="x"\rx', problem: `${NO_END} the line's end` },
  ],
};
