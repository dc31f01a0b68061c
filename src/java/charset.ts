/** A Java charset, with Java's replacements for invalid input. */
export interface Charset {
  decode(bytes: Uint8Array): string;
  encode(text: string): Uint8Array;
}

/** Finds a charset by Java name or alias; `undefined` if it is unknown. */
export function findCharset(name: string): Charset | undefined {
  const label = name.toLowerCase();
  const own = OWN[label];
  if (own !== undefined) return own;
  try {
    const codePage = /^cp(125\d|874)$/.exec(label)?.[1];
    return tableCharset(new TextDecoder(codePage === undefined ? label : `windows-${codePage}`));
  } catch {
    return undefined;
  }
}

const utf8: Charset = {
  decode: decodeUtf8,
  encode: (text) => {
    const bytes = Buffer.from(text, 'utf8');
    // If there are as many bytes as UTF-16 units, the text is ASCII.
    return bytes.length === text.length || !SURROGATE.test(text) ? bytes : Buffer.from(wellFormed(text, '?'), 'utf8');
  },
};

const SURROGATE = /[\ud800-\udfff]/;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Replaces lone surrogates: with U+FFFD in UTF-16, and with `?` before encoding UTF-8. */
function wellFormed(text: string, replacement = '\ufffd'): string {
  return SURROGATE.test(text) ? text.replace(LONE_SURROGATE, replacement) : text;
}

/** Decodes UTF-8 with U+FFFD for malformed input. For an encoded surrogate Java produces one replacement, other decoders three. */
export function decodeUtf8(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString('utf8');
  if (!text.includes('\ufffd') || !buffer.includes(0xed)) return text;
  const surrogates = /\xed[\xa0-\xbf][\x80-\xbf]?/g;
  return Buffer.from(buffer.toString('latin1').replace(surrogates, '\xff'), 'latin1').toString('utf8');
}

/** A single-byte charset with the first `limit` characters of Unicode; other characters are encoded as `?`. */
function narrow(limit: number): Charset {
  return {
    decode: (bytes) => {
      const text = Buffer.from(bytes).toString('latin1');
      return limit > 128 ? text : text.replace(/[\x80-\xff]/g, '\ufffd');
    },
    encode: (text) =>
      Uint8Array.from(text, (char) => {
        const code = char.codePointAt(0) ?? 0;
        return code < limit ? code : 0x3f;
      }),
  };
}

function utf16(order: 'big' | 'little', mark: boolean): Charset {
  const big = (bytes: Uint8Array) => {
    const buffer = Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2)));
    return order === 'big' ? buffer.swap16() : buffer;
  };
  return {
    decode: (bytes) => {
      const rest = bytes.length % 2 === 1 ? '\ufffd' : '';
      if (mark && bytes[0] === 0xff && bytes[1] === 0xfe) {
        return wellFormed(Buffer.from(bytes.subarray(2, bytes.length - (bytes.length % 2))).toString('utf16le')) + rest;
      }
      const start = mark && bytes[0] === 0xfe && bytes[1] === 0xff ? 2 : 0;
      return wellFormed(big(bytes.subarray(start)).toString('utf16le')) + rest;
    },
    encode: (text) => big(Buffer.from(`${mark && text !== '' ? '\ufeff' : ''}${wellFormed(text)}`, 'utf16le')),
  };
}

/** Characters of the bytes 0x80 to 0x9f in windows-1252; five of them are undefined. */
const WINDOWS_1252 = '€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ';

const windows1252: Charset = {
  decode: (bytes) =>
    latin1.decode(bytes).replace(/[\x80-\x9f]/g, (char) => WINDOWS_1252.charAt(char.charCodeAt(0) - 0x80)),
  encode: (text) =>
    Uint8Array.from(text, (char) => {
      const place = char === '\ufffd' ? -1 : WINDOWS_1252.indexOf(char);
      const code = char.codePointAt(0) ?? 0;
      if (place >= 0) return 0x80 + place;
      return code < 0x80 || (code >= 0xa0 && code < 0x100) ? code : 0x3f;
    }),
};

type Decoder = InstanceType<typeof TextDecoder>;

/**
 * A charset that `TextDecoder` supports. Characters that take more than two bytes cannot be encoded and become `?`. The
 * encoding table is built on first use.
 */
function tableCharset(decoder: Decoder): Charset {
  let table: Map<string, readonly number[]> | undefined;
  return {
    decode: (bytes) => decoder.decode(bytes),
    encode: (text) => {
      table ??= encodingTable(decoder);
      const known = table;
      return Uint8Array.from([...text].flatMap((char) => known.get(char) ?? [0x3f]));
    },
  };
}

function encodingTable(decoder: Decoder): Map<string, readonly number[]> {
  const table = new Map<string, readonly number[]>();
  const add = (bytes: readonly number[]) => {
    const char = decoder.decode(Uint8Array.from(bytes));
    if ([...char].length === 1 && char !== '\ufffd' && !table.has(char)) table.set(char, bytes);
  };
  for (let byte = 0; byte < 256; byte++) add([byte]);
  for (let lead = 0x80; lead < 256; lead++) for (let trail = 0x30; trail < 256; trail++) add([lead, trail]);
  return table;
}

const latin1 = narrow(256);
const ascii = narrow(128);
const utf16Marked = utf16('big', true);
/** Names that `TextDecoder` does not support or interprets differently. */
const OWN: Readonly<Record<string, Charset>> = {
  'utf-8': utf8,
  utf8,
  'iso-8859-1': latin1,
  iso8859_1: latin1,
  'iso8859-1': latin1,
  latin1,
  'us-ascii': ascii,
  ascii,
  'windows-1252': windows1252,
  cp1252: windows1252,
  'utf-16': utf16Marked,
  utf16: utf16Marked,
  'utf-16be': utf16('big', false),
  'utf-16le': utf16('little', false),
};
