import { printParseErrorCode, visit } from 'jsonc-parser';
import type { StoredConfig } from '../common/answers.ts';
import { texts } from '../texts/editor.ts';

/** A key of a configuration with its value. This worker refuses `null` values, but a Java worker may have stored one. */
export type Entry = StoredConfig['entries'][number];

/** A part of a text, from the index `from` (inclusive) to the index `to` (exclusive). */
export interface Place {
  readonly from: number;
  readonly to: number;
}

export interface DocumentProblem extends Place {
  readonly message: string;
}

/** A parsed text. If the text has a syntax error, `entries` has only the entries before the error. */
export interface ParsedDocument {
  readonly entries: readonly Entry[];
  /** The places of the keys in the text. */
  readonly places: ReadonlyMap<string, Place>;
  readonly problems: readonly DocumentProblem[];
}

/** Maximum number of problems that are shown. */
const MAX_PROBLEMS = 50;
const MAX_SHOWN = 20;

/** Formats entries as JSON, with each key on its own line. */
export function documentText(entries: readonly Entry[]): string {
  if (entries.length === 0) return '{}\n';
  const lines = entries.map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  return `{\n${lines.join(',\n')}\n}\n`;
}

/** Parses the JSON text of a configuration. Numbers and booleans become strings, as in the API. The order of the keys is kept. */
export function parseDocument(text: string): ParsedDocument {
  const entries: Entry[] = [];
  const places = new Map<string, Place>();
  const problems: DocumentProblem[] = [];
  let part: DocumentPart = 'start';
  /** The key whose value follows. */
  let key: string | undefined;
  /** Reports a problem, because the document is not an object, or because a value is an object or array. */
  const refuse = (offset: number, length: number): never => {
    const message = part === 'start' ? texts.expected('{', text.slice(offset, offset + length)) : texts.noValue;
    throw new DocumentError({ from: offset, to: offset + length }, message);
  };
  try {
    visit(
      text,
      {
        onObjectBegin: (offset, length) => {
          if (part !== 'start') refuse(offset, length);
          part = 'object';
        },
        onObjectEnd: () => {
          part = 'end';
        },
        onArrayBegin: refuse,
        onObjectProperty: (name, from, length) => {
          const place = { from, to: from + length };
          if (places.has(name) && problems.length < MAX_PROBLEMS)
            problems.push({ ...place, message: texts.keyTwice(name) });
          places.set(name, place);
          key = name;
        },
        onLiteralValue: (value: unknown, offset, length) => {
          if (key === undefined) return refuse(offset, length);
          const written = typeof value === 'string' ? value : text.slice(offset, offset + length);
          entries.push([key, value === null ? null : written]);
          key = undefined;
        },
        onError: (code, from, length) => {
          const found = text.slice(from, from + length);
          const message = syntaxText(printParseErrorCode(code), found, part, key !== undefined);
          throw new DocumentError({ from, to: from + length }, message);
        },
      },
      { disallowComments: true, allowTrailingComma: false },
    );
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    problems.push({ ...error.place, message: error.message });
  }
  return { entries, places, problems };
}

/** Sets the value of a key. A new key is inserted where `order` places it, otherwise at the end. */
export function withValue(
  entries: readonly Entry[],
  key: string,
  value: string,
  order: readonly string[] = [],
): readonly Entry[] {
  if (entries.some(([name]) => name === key)) {
    return entries.map((entry) => (entry[0] === key ? ([key, value] as const) : entry));
  }
  const later = new Set(order.includes(key) ? order.slice(order.indexOf(key) + 1) : []);
  const next = entries.findIndex(([name]) => later.has(name));
  const at = next < 0 ? entries.length : next;
  return [...entries.slice(0, at), [key, value], ...entries.slice(at)];
}

export function withoutKey(entries: readonly Entry[], key: string): readonly Entry[] {
  return entries.filter(([name]) => name !== key);
}

export function valueIn(entries: readonly Entry[], key: string): string | undefined {
  const found = entries.find(([name]) => name === key);
  return found === undefined ? undefined : (found[1] ?? '');
}

/** The topic names in the option `topics`. */
export function topicsIn(entries: readonly Entry[]): readonly string[] {
  return (valueIn(entries, 'topics') ?? '').split(',').flatMap((topic) => topic.trim() || []);
}

/** Converts the entries to the request body. */
export function configBody(entries: readonly Entry[]): Readonly<Record<string, string | null>> {
  return Object.fromEntries(entries);
}

/** The number of the line, from 1, that contains the character at this index. */
export function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

class DocumentError extends Error {
  readonly place: Place;

  constructor(place: Place, message: string) {
    super(message);
    this.place = place;
  }
}

/** The part of a document that the parser is in. */
type DocumentPart = 'start' | 'object' | 'end';

function syntaxText(code: string, found: string, part: DocumentPart, hasKey: boolean): string {
  // This check precedes that of `part`, because the parser reports a missing closing brace after the end of the object.
  if (code === 'CloseBraceExpected') return texts.expected('}', found);
  if (part === 'end') return texts.moreText;
  switch (code) {
    case 'PropertyNameExpected':
      return texts.noKey;
    case 'InvalidSymbol':
    case 'ValueExpected':
      if (part === 'start') return texts.expected('{', found);
      return hasKey ? texts.noValue : texts.noKey;
    case 'CommaExpected':
      return texts.expected(',', found);
    case 'ColonExpected':
      return texts.expected(':', found);
    default:
      return texts.notJson(found.slice(0, MAX_SHOWN));
  }
}
