import type { MessagePage, ShownPart } from '../common/answers.ts';
import { exactDateTime } from '../common/time.ts';

type Position = MessagePage['next'][number];

/** The fields of the search as typed by the user. */
export interface Fields {
  readonly topic: string;
  readonly partition: string;
  readonly key: string;
  /** A part of the value. */
  readonly text: string;
  readonly fromOffset: string;
  readonly offset: string;
  readonly fromTime: string;
  readonly time: string;
}

export const NO_FIELDS: Fields = {
  ...{ topic: '', partition: '', key: '', text: '' },
  ...{ fromOffset: '', offset: '', fromTime: '', time: '' },
};

/** Positions that limit a page: `before` (where the previous page ended) to older messages, `after` to newer ones. */
interface Limits {
  readonly before?: readonly Position[] | undefined;
  readonly after?: readonly Position[] | undefined;
}

/** Builds the request body of a search; `undefined` if an offset is not a number of at most 15 digits. */
export function queryOf(fields: Fields, { before, after }: Limits = {}): object | undefined {
  const { topic, partition, key, text, fromTime, time } = fields;
  const [fromOffset, offset] = [fields.fromOffset.trim(), fields.offset.trim()];
  if ([fromOffset, offset].some((each) => each !== '' && !/^\d{1,15}$/.test(each))) return undefined;
  return {
    ...(topic === '' ? {} : { topic }),
    ...(partition === '' ? {} : { partition: Number(partition) }),
    ...(key === '' ? {} : { key }),
    ...(text === '' ? {} : { text }),
    ...(fromOffset === '' ? {} : { fromOffset: Number(fromOffset) }),
    ...(offset === '' ? {} : { offset: Number(offset) }),
    ...(fromTime === '' ? {} : { fromTime: new Date(fromTime).getTime() }),
    ...(time === '' ? {} : { time: new Date(time).getTime() }),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
}

/** Adds a page of newer messages. A page without messages only moves the ends, so that the number of pages does not grow. */
export function withNewer(pages: readonly MessagePage[], page: MessagePage): readonly MessagePage[] {
  const [newest, ...older] = pages;
  if (newest === undefined || page.messages.length > 0) return [page, ...pages];
  return [{ ...newest, ends: page.ends }, ...older];
}

export function placeText({ topic, partition, offset }: Position): string {
  return `${topic}-${String(partition)}@${String(offset)}`;
}

/** The time of a record, with milliseconds. */
export function timeText(timestamp: number): string {
  return exactDateTime(timestamp);
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const MAX_INDENTED = 200_000;

/** Adds line breaks and indentation to JSON, without changing its strings and numbers. A very long text is returned unchanged. */
function indented(json: string): string {
  if (json.length > MAX_INDENTED) return json;
  const pieces: string[] = [];
  let depth = 0;
  const line = (): string => `\n${'  '.repeat(depth)}`;
  let before = '';
  for (const [token] of json.matchAll(TOKEN)) {
    const closes = token === '}' || token === ']';
    if (closes) depth -= 1;
    const wasOpen = before === '{' || before === '[';
    if ((closes && !wasOpen) || (!closes && (wasOpen || before === ','))) pieces.push(line());
    pieces.push(token === ':' ? ': ' : token);
    if (token === '{' || token === '[') depth += 1;
    before = token;
  }
  return pieces.join('');
}

/** Indents JSON, including JSON that a string converter returned as text. Other text is returned unchanged. */
export function readable(part: Exclude<ShownPart, { readonly kind: 'null' }>): string {
  if (part.kind === 'hex' || part.cut !== undefined) return part.text;
  return part.kind === 'json' || isJson(part.text) ? indented(part.text) : part.text;
}

function isJson(text: string): boolean {
  if (!/^\s{0,10}[[{]/.test(text) || text.length > MAX_INDENTED) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Minimum length, in characters, of the text before `data` or `payload` for it to be replaced. */
const MIN_ENVELOPE = 40;

/**
 * Messages of formats such as json_db start with the same fields, so the text before `data` or `payload` is replaced by
 * an ellipsis.
 */
function fromData(text: string): string {
  const at = text.startsWith('{') ? text.search(/"(?:data|payload)"\s*:/) : -1;
  return at < MIN_ENVELOPE ? text : `… ${text.slice(at)}`;
}

/** The first characters of a key or value, on one line. */
export function firstOf(part: ShownPart, length = 160): string {
  if (part.kind === 'null') return 'null';
  const text = part.kind === 'hex' ? `0x${part.text}` : fromData(part.text);
  const flat = text.slice(0, length + 1).replace(/\s+/g, ' ');
  return flat.length > length ? `${flat.slice(0, length)}…` : flat;
}
