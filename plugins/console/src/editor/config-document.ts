import type { StoredConfig } from '../common/answers.ts';
import { texts } from '../texts/editor.ts';

/** A key of a configuration with its value; `null` is what the worker refuses, and what may have been stored by others. */
export type Entry = StoredConfig['entries'][number];

/** A part of a text, by its first and last offset. */
export interface Place {
  readonly from: number;
  readonly to: number;
}

export interface DocumentProblem extends Place {
  readonly message: string;
}

/** What a text in JSON says. With a problem, the entries are those before it. */
export interface ParsedDocument {
  readonly entries: readonly Entry[];
  /** Of the keys. */
  readonly places: ReadonlyMap<string, Place>;
  readonly problems: readonly DocumentProblem[];
}

const TOKEN = /"(?:[^"\\\n\r]|\\.)*"|-?\d[\d.eE+-]*|[a-z]+|[{}[\]:,]/y;
const SCALAR = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;
/** More than these help nobody. */
const MAX_PROBLEMS = 50;
const BLANKS = /[ \t\r\n]*/y;

/** Each key on a line of its own. */
export function documentText(entries: readonly Entry[]): string {
  if (entries.length === 0) return '{}\n';
  const lines = entries.map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  return `{\n${lines.join(',\n')}\n}\n`;
}

/** Numbers, true and false become text, as the API takes them. Keys keep the order that they are written in. */
export function parseDocument(text: string): ParsedDocument {
  const reader = new Reader(text);
  const entries: Entry[] = [];
  const places = new Map<string, Place>();
  const problems: DocumentProblem[] = [];
  try {
    reader.expect('{');
    for (let more = reader.peek() !== '}'; more; more = reader.optional(',')) {
      const key = reader.next();
      const name = textOf(key, texts.noKey);
      if (places.has(name) && problems.length < MAX_PROBLEMS)
        problems.push({ from: key.from, to: key.to, message: texts.keyTwice(name) });
      places.set(name, { from: key.from, to: key.to });
      reader.expect(':');
      const entry = [name, valueOf(reader.next())] as const;
      entries.push(entry);
    }
    reader.expect('}');
    const rest = reader.next();
    if (rest.text !== '') throw new DocumentError(rest, texts.moreText);
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    problems.push({ from: error.place.from, to: error.place.to, message: error.message });
  }
  return { entries, places, problems };
}

/** With another value for a key; one that was not there comes where `order` has it, else last. */
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

/** As the body of a request. */
export function configBody(entries: readonly Entry[]): Readonly<Record<string, string | null>> {
  return Object.fromEntries(entries);
}

/** The number of the line that an offset is in, from 1. */
export function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

interface Token extends Place {
  /** Empty: the end of the text, or what is no JSON. */
  readonly text: string;
}

class DocumentError extends Error {
  readonly place: Place;

  constructor(place: Place, message: string) {
    super(message);
    this.place = place;
  }
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  peek(): string {
    const at = this.#at;
    const { text } = this.next();
    this.#at = at;
    return text;
  }

  next(): Token {
    BLANKS.lastIndex = this.#at;
    BLANKS.exec(this.#text);
    const from = BLANKS.lastIndex;
    TOKEN.lastIndex = from;
    const [text = ''] = TOKEN.exec(this.#text) ?? [];
    this.#at = from + text.length;
    if (text === '' && from < this.#text.length) {
      throw new DocumentError(lineFrom(this.#text, from), texts.notJson(this.#text.slice(from, from + 20)));
    }
    return { text, from, to: this.#at };
  }

  expect(text: string): void {
    const found = this.next();
    if (found.text !== text) throw new DocumentError(found, texts.expected(text, found.text));
  }

  optional(text: string): boolean {
    const isNext = this.peek() === text;
    if (isNext) this.next();
    return isNext;
  }
}

function textOf(token: Token, otherwise: string): string {
  if (!token.text.startsWith('"')) throw new DocumentError(token, otherwise);
  try {
    return JSON.parse(token.text) as string;
  } catch {
    throw new DocumentError(token, texts.notJson(token.text.slice(0, 20)));
  }
}

function valueOf(token: Token): string | null {
  if (token.text.startsWith('"')) return textOf(token, '');
  if (!SCALAR.test(token.text)) throw new DocumentError(token, texts.noValue);
  return token.text === 'null' ? null : token.text;
}

/** From an offset to the end of its line. */
function lineFrom(text: string, from: number): Place {
  const end = text.indexOf('\n', from);
  return { from, to: end < 0 ? text.length : end };
}
