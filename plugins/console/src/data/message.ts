import type { MessagePage, ShownPart } from '../common/answers.ts';
import { exactDateTime } from '../common/time.ts';

type Position = MessagePage['next'][number];

/** The fields of the search as typed by the user. */
export interface Fields {
  readonly topic: string;
  readonly partition: string;
  readonly key: string;
  readonly offset: string;
  readonly time: string;
}

export const NO_FIELDS: Fields = { topic: '', partition: '', key: '', offset: '', time: '' };

/** Builds the request body of a search; `undefined` if the offset is not a number. `before`: where the previous page ended in each partition. */
export function queryOf(fields: Fields, before?: readonly Position[]): object | undefined {
  const { topic, partition, key, offset, time } = fields;
  if (offset.trim() !== '' && !/^\d{1,15}$/.test(offset.trim())) return undefined;
  return {
    ...(topic === '' ? {} : { topic }),
    ...(partition === '' ? {} : { partition: Number(partition) }),
    ...(key === '' ? {} : { key }),
    ...(offset.trim() === '' ? {} : { offset: Number(offset.trim()) }),
    ...(time === '' ? {} : { time: new Date(time).getTime() }),
    ...(before === undefined ? {} : { before }),
  };
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
