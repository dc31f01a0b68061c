import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { parseProperties } from '../../src/config/properties-file.ts';
import { parseConnectionUrl } from '../../plugins/database/executor/connection-url.ts';
import { ConfigError } from '../../src/errors.ts';
import { hostileText, nearly, parserProperty, withLongOnes, type ParserProperty } from './parser-property.ts';

const PROPERTY_PIECES = [
  'a',
  'b.c',
  '=',
  ':',
  ' ',
  '\t',
  '\\',
  '\\\n',
  '\n',
  '\r',
  '\r\n',
  '#',
  '!',
  '\\u0041',
  '\\u00',
  '{',
];
const propertiesText = withLongOnes(
  fc.oneof(
    fc
      .array(fc.constantFrom(...PROPERTY_PIECES, '"', '}', '[', '1', '\\n', 'é', '\0'), { maxLength: 30 })
      .map((all) => all.join('')),
    fc.json().map((json) => ` ${json}`),
    fc.string({ unit: 'binary' }),
  ),
  fc.constantFrom('\\', 'a', '=', '\n', '#', ' ', '\\u', '\\\n', 'a=b\n', '{', '\r'),
);

/** As java.util.Properties.store writes a key or a value, but for characters beyond ASCII, which stay. */
function stored(text: string): string {
  return text.replace(/[\\=:#!\n\r\t\f ]/g, (character) => {
    const letter = { '\n': 'n', '\r': 'r', '\t': 't', '\f': 'f' }[character];
    return `\\${letter ?? character}`;
  });
}

const URLS = [
  'jdbc:db://db.example:26257/plant?user=ada&password=x',
  'jdbc:postgresql://one:1,[fe80::1]:2,three/d?user=u&sslmode=verify-full',
  'postgresql://us%40er:p%3Aw@x@h:1/my%20db?connectTimeout=5',
];
const URL_PIECES = [
  '',
  ':',
  '/',
  '@',
  '?',
  '&',
  '=',
  ',',
  '[',
  ']',
  '%',
  '%4',
  '%00',
  ' ',
  '0',
  '\0',
  '-1',
  '99999',
  'é',
];
const urlText = withLongOnes(
  fc.oneof(nearly(nearly(fc.constantFrom(...URLS), URL_PIECES), URL_PIECES), fc.string({ unit: 'binary' })),
  fc.constantFrom(...URL_PIECES.slice(1), 'a,', '&a=b', '%41'),
);
/** Without halves of surrogate pairs, which no percent code can name. */
const wellFormed = hostileText.filter((text) => !/\p{Surrogate}/u.test(text));

export const PROPERTIES_FILES: readonly ParserProperty[] = [
  parserProperty('any properties file is read or refused with a reason', propertiesText, () => (text) => {
    try {
      for (const value of Object.values(parseProperties(text))) assert.equal(typeof value, 'string');
    } catch (error) {
      assert.ok(error instanceof ConfigError || error instanceof SyntaxError, inspect(error));
    }
  }),
  parserProperty(
    'properties are read as Java stores them',
    fc.array(fc.tuple(hostileText, hostileText), { maxLength: 5 }),
    () => (pairs) => {
      // A file that begins with a brace is JSON; a pair without a name is what a lone continuation looks like.
      const usable = pairs.filter(([key]) => key !== '' && key !== '__proto__' && !key.trimStart().startsWith('{'));
      const text = usable.map(([key, value]) => `${stored(key)}=${stored(value)}\n`).join('');
      if (text.trimStart().startsWith('{')) return;
      assert.deepEqual(parseProperties(text), Object.fromEntries(usable));
    },
  ),
];

export const CONNECTION_URLS: readonly ParserProperty[] = [
  parserProperty('any connection URL is read or refused, and its password never shown', urlText, () => (text) => {
    try {
      const settings = parseConnectionUrl(text.replaceAll('password=x', 'password=s3cret'));
      assert.ok(settings.servers.length > 0 && settings.user !== '' && settings.database !== '');
      for (const { host, port } of settings.servers) assert.ok(host !== '' && port >= 1 && port <= 65_535);
      if (settings.password?.reveal() === 's3cret') assert.doesNotMatch(inspect(settings, { depth: 9 }), /s3cret/);
    } catch (error) {
      assert.ok(error instanceof ConfigError, inspect(error));
      assert.doesNotMatch(error.message, /s3cret/);
    }
  }),
  parserProperty(
    'a connection URL gives the user, the password and the database that were put into it',
    fc.tuple(wellFormed, wellFormed, wellFormed),
    () =>
      ([user, password, database]) => {
        if (user === '' || database === '' || `${user}${password}${database}`.includes('\0')) return;
        const encode = encodeURIComponent;
        const settings = parseConnectionUrl(`postgresql://${encode(user)}:${encode(password)}@h:1/${encode(database)}`);
        assert.deepEqual(
          [settings.user, settings.password?.reveal() ?? '', settings.database],
          [user, password, database],
        );
      },
  ),
];
