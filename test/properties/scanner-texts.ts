import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { SCANNERS } from '../freezes/scanners.ts';
import type { Scanner } from '../freezes/scanner.ts';
import { CHARACTERS, PIECES } from '../freezes/texts.ts';
import { nearly, parserProperty, withLongOnes, type ParserProperty } from './parser-property.ts';

/** Whole texts of the languages that the scanners read, and the words that they consist of. */
const EXAMPLES = {
  lines: [
    'meters,site=a\\ b,id=1 power=1.5,count=7i,on=t,note="x \\"y\\"" 1700000000000',
    'put sys.cpu 1700000000 42.5 host=a dc=b',
  ],
  json: [
    '{"a":[1,-2.5e3,"x\\u0041",null,true,{"b":[]}],"c":{"d":""}}',
    '{"schema":{"type":"struct","fields":[{"field":"a","type":"int32","optional":true}]},"payload":{"a":1}}',
    '{"schema":{"type":"map","keys":{"type":"string"},"values":{"type":"int64"}},"payload":{"a":1}}',
    '{"metric":"m","timestamp":1700000000,"value":1.5,"tags":{"host":"a"}}',
  ],
  schemas: [
    '{"type":"record","name":"a.Row","fields":[{"name":"n","type":["null","long"],"default":null},{"name":"e","type":{"type":"enum","name":"E","symbols":["A","B"]}}]}',
    '{"type":"object","properties":{"a":{"type":["integer","null"]},"b":{"$ref":"#/definitions/B"}},"definitions":{"B":{"oneOf":[{"type":"string"}]}}}',
    'syntax = "proto3"; package a.b; message Row { int64 n = 1; repeated string s = 2; map<string, int32> m = 3; oneof o { bool x = 4; } enum E { A = 0; } }',
    'int64 n = 1 [deprecated = true]; reserved 2, 4 to max;',
  ],
  values: [
    '1.5',
    '-7',
    '1E400',
    '2024-05-06T07:08:09.123Z',
    'Mon May 6 2024 GMT',
    '20240506+01',
    '"x"',
    '[1, "a"]',
    '{"a": 1}',
  ],
  settings: [
    'connector.class=A\nname : b\\u0041\\\n  c\n# comment\n',
    'jdbc:postgresql://a:1,[fe80::1]:2/d?user=u&sslmode=verify-full&password=x',
    'org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password=\'b\';',
    'set X-Frame-Options: DENY, "add Cache-Control: no-cache, no-store"',
    '${file:/a/b.properties:key}-${env:HOME}',
    '[1.2.0,2.0.0)',
    'https://[::1]:8083',
    'a:int32,b:string',
    "yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
    '(?i)(?<name>a+|b*?)[^c-e&&[d]]{1,3}(?=x)\\1\\Qy\\E$',
    '-Djava.security.auth.login.config="/a b/c" -Dx=y',
  ],
  requests: [
    'Basic dXNlcjpwYXNz',
    'select mean("v") from "a"."b"."c" where time > now() - 1h and "t" = \'x\' group by time(5m), * fill(none) limit 5; show databases',
    "select time_bucket(ts, '1h'), first(power), last(power) from meters where ts > 5 group by 1",
    'create table t (ts timestamp not null, a int) tags (b varchar(5)) primary tags (b)',
    'Europe/Oslo',
    '+08:00',
  ],
} as const;

const pieces = fc.constantFrom(...CHARACTERS, ...PIECES);
const soup = fc.array(pieces, { maxLength: 40 }).map((all) => all.join(''));

/** Texts that are nearly an example, and texts made of what makes scanners begin something. */
function textsLike(examples: readonly string[]): fc.Arbitrary<string> {
  const whole = fc.constantFrom(...examples);
  const all = [...CHARACTERS, ...PIECES];
  const crossed = fc
    .tuple(whole, whole, fc.nat(), fc.nat())
    .map(([head, tail, end, start]) => head.slice(0, end % (head.length + 1)) + tail.slice(start % (tail.length + 1)));
  return withLongOnes(
    fc.oneof(
      nearly(whole, all),
      nearly(nearly(nearly(whole, all), all), all),
      nearly(crossed, all),
      soup,
      fc.string({ unit: 'binary', maxLength: 80 }),
    ),
    pieces,
  );
}

/**
 * A refusal says what is wrong with the text. These do not: they are mistakes of the scanner, such as a property of what is
 * undefined, or a recursion without a limit.
 */
function isMistake(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  if (error instanceof ReferenceError) return true;
  if (error instanceof RangeError)
    return /call stack|Invalid (?:string|array|typed)|out of range|BigInt/.test(error.message);
  return error instanceof TypeError && !error.message.startsWith('Invalid URL');
}

function refusalsOf(scanners: readonly Scanner[], examples: readonly string[]): ParserProperty[] {
  return scanners.map(({ name, read }) =>
    parserProperty(`${name}: any text is read or refused with a reason`, textsLike(examples), () => (text) => {
      try {
        read(text);
      } catch (error) {
        assert.ok(!isMistake(error), `${inspect(error)} for ${JSON.stringify(text.slice(0, 500))}`);
      }
    }),
  );
}

/** The scanners by the language that they read: the first pattern that matches a name decides. */
const LANGUAGES: readonly (readonly [language: string, names: RegExp, examples: readonly string[]])[] = [
  ['line_lp', /^line_lp|body of lines/, EXAMPLES.lines],
  ['line_tsd', /^line_tsd/, EXAMPLES.lines],
  ['json_db', /^json_db/, EXAMPLES.json],
  ['json_tsd', /^json_tsd/, EXAMPLES.json],
  ['cdc_db', /^cdc_db/, EXAMPLES.json],
  ['schemas', /^(?:Avro|JSON schema|Protobuf)/, EXAMPLES.schemas],
  ['JSON', /JSON/, EXAMPLES.json],
  ['JSON converter', /^JsonConverter/, EXAMPLES.json],
  ['Java patterns and dates', /Java pattern|date pattern|time by/, EXAMPLES.settings],
  ['properties files', /propert/, EXAMPLES.settings],
  ['connection URLs', /connection URL/, EXAMPLES.settings],
  ['SQL', /^SQL/, EXAMPLES.requests],
  ['requests', /^(?:Authorization|InfluxQL|time zone)/, EXAMPLES.requests],
  ['values', /^(?:UTF-8|header (?:text|list|map)|Cast to|Decimal|cell for|time text|table name of)/, EXAMPLES.values],
  ['settings', /^/, EXAMPLES.settings],
];

/** Each scanner with texts of its language. */
export const SCANNER_TEXTS: ReadonlyMap<string, readonly ParserProperty[]> = new Map(
  LANGUAGES.map(([language, , examples], index) => {
    const isMine = ({ name }: Scanner): boolean => LANGUAGES.findIndex(([, names]) => names.test(name)) === index;
    return [language, refusalsOf(SCANNERS.filter(isMine), examples)] as const;
  }),
);
