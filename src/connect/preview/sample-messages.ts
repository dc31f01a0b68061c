import { ConfigError } from '../../errors.ts';
import type { ConsumedHeader, ConsumedRecord } from '../../kafka/api.ts';

/** A message as a preview is given it; a key or value is text, `{"base64": …}`, any other JSON, or none. */
export interface SampleMessage {
  readonly key?: unknown;
  readonly value?: unknown;
  /** By name, or as a list where names come twice. */
  readonly headers?: Readonly<Record<string, unknown>> | readonly { readonly key: string; readonly value?: unknown }[];
  /** Milliseconds since the epoch; now when absent. */
  readonly timestamp?: number;
  readonly partition?: number;
}

/** The message as the broker would have it, as the `offset`th of its topic. A ConfigError says what is wrong with it. */
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
  const list = Array.isArray(headers)
    ? (headers as readonly { key: string; value?: unknown }[])
    : Object.entries(headers).map(([key, value]) => ({ key, value }));
  return list.map(({ key, value }) => ({ key, value: bytesOf(value) }));
}

function bytesOf(given: unknown): Buffer | null {
  if (given === null || given === undefined) return null;
  if (typeof given === 'string') return Buffer.from(given);
  if (isBase64(given)) {
    const bytes = Buffer.from(given.base64, 'base64');
    if (bytes.toString('base64').replace(/=+$/, '') !== given.base64.replace(/=+$/, '')) {
      throw new ConfigError('A message has a base64 that is none');
    }
    return bytes;
  }
  return Buffer.from(JSON.stringify(given));
}

function isBase64(given: unknown): given is { readonly base64: string } {
  return (
    typeof given === 'object' &&
    given !== null &&
    Object.keys(given).length === 1 &&
    'base64' in given &&
    typeof given.base64 === 'string'
  );
}
