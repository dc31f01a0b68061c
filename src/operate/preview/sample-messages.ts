import { withoutTrailing } from '../../data/text-ends.ts';
import { ConfigError } from '../../errors.ts';
import type { ConsumedHeader, ConsumedRecord } from '../../kafka/api.ts';
import type { JsonNumber, JsonTree } from '../../json/json-tree.ts';
import { anyOf, arrayOf, integerBetween, objectOf, TEXT, type ShapeOf, type Typed } from '../../json/open-api.ts';

/** Any JSON, as the scanner of the request has read it. */
const SOME_JSON: Typed<JsonTree> = {};
const NAMED_HEADERS: Typed<Readonly<Record<string, JsonTree>>> = { type: 'object' };
const HEADER = objectOf({ key: TEXT, 'value?': SOME_JSON });

/**
 * A message in the request for a preview. A key or value is text, `{"base64": …}`, any other JSON, or absent. Headers
 * are an object, or a list if a name occurs twice. The timestamp is in milliseconds since the epoch; by default it is
 * the current time.
 */
export const SAMPLE_MESSAGE = objectOf({
  'key?': SOME_JSON,
  'value?': SOME_JSON,
  'headers?': anyOf(NAMED_HEADERS, arrayOf(HEADER)),
  'timestamp?': integerBetween(0, Number.MAX_SAFE_INTEGER),
  'partition?': integerBetween(0, 2 ** 31 - 1),
});
export type SampleMessage = ShapeOf<typeof SAMPLE_MESSAGE>;

/** Converts a message to a record of the topic with this offset. Throws a ConfigError if the message is invalid. */
export function sampleRecord(message: SampleMessage, topic: string, offset: number): ConsumedRecord {
  return {
    topic,
    partition: message.partition ?? 0,
    offset,
    timestamp: message.timestamp ?? Date.now(),
    timestampType: 'CreateTime',
    key: bytesOf(message.key),
    value: bytesOf(message.value),
    headers: headersOf(message.headers ?? []),
  };
}

function headersOf(headers: NonNullable<SampleMessage['headers']>): ConsumedHeader[] {
  const list = isList(headers) ? headers : Object.entries(headers).map(([key, value]) => ({ key, value }));
  return list.map(({ key, value }) => ({ key, value: bytesOf(value) }));
}

function isList(headers: NonNullable<SampleMessage['headers']>): headers is readonly ShapeOf<typeof HEADER>[] {
  return Array.isArray(headers);
}

function bytesOf(given: JsonTree | undefined): Buffer | null {
  if (given === null || given === undefined) return null;
  if (typeof given === 'string') return Buffer.from(given);
  const base64 = given instanceof Map && given.size === 1 ? given.get('base64') : undefined;
  return typeof base64 === 'string' ? bytesOfBase64(base64) : Buffer.from(jsonText(given));
}

function bytesOfBase64(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  const withoutPadding = (base64: string): string => withoutTrailing(base64, '=');
  if (withoutPadding(bytes.toString('base64')) !== withoutPadding(text)) {
    throw new ConfigError('A message has an invalid base64 text');
  }
  return bytes;
}

/** A number that comes from another thread is a plain object, not a JsonNumber. */
function isNumber(tree: JsonTree): tree is JsonNumber {
  return tree !== null && typeof tree === 'object' && 'integral' in tree;
}

/** The JSON text of a value, with numbers as they were written and members in their order. */
function jsonText(tree: JsonTree): string {
  if (isNumber(tree)) return tree.text;
  if (Array.isArray(tree)) return `[${tree.map(jsonText).join(',')}]`;
  if (!(tree instanceof Map)) return JSON.stringify(tree);
  return `{${[...tree].map(([name, member]) => `${JSON.stringify(name)}:${jsonText(member)}`).join(',')}}`;
}
