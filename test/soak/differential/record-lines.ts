import { crc32 } from 'node:zlib';
import type { ConsumedRecord } from '../../../src/kafka/api.ts';

/**
 * Formats a record as text: offset, time, type of the time, key, value and headers, each by length and checksum; same
 * as `lineOf` of Peer.java.
 */
export function lineOf(record: ConsumedRecord): string {
  const { offset, timestamp, timestampType } = record;
  const kind = timestampType === 'LogAppendTime' ? 'append' : 'create';
  return `${String(offset)} ${String(timestamp)} ${kind} ${contentOf(record)}`;
}

interface Content {
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: readonly { readonly key: string; readonly value: Uint8Array | null }[];
}

/** Formats key, value and headers. */
export function contentOf({ key, value, headers }: Content): string {
  const parts = [sumOf(key), sumOf(value)];
  for (const header of headers) parts.push(`${sumOf(Buffer.from(header.key))}=${sumOf(header.value)}`);
  return parts.join(' ');
}

export function offsetOf(line: string): number {
  return Number(line.slice(0, line.indexOf(' ')));
}

function sumOf(bytes: Uint8Array | null): string {
  return bytes === null ? 'null' : `${String(bytes.length)}:${crc32(bytes).toString(16)}`;
}

/** A partition as Java's consumer read it. */
export interface ReadPartition {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** Thrown if the clients disagree about a topic. */
export class Difference extends Error {}

/** Returns the error of a round, with the data that are necessary to repeat it. */
export function described(error: unknown, seed: number, details: object): Error {
  const message = error instanceof Error ? error.message : String(error);
  const text = `seed ${String(seed)}: ${message}\n  ${JSON.stringify(details)}`;
  return error instanceof Difference ? new Difference(text) : new Error(text, { cause: error });
}

/** Throws for the first record that differs. */
export function requireEqualLines(partition: number, own: readonly string[], java: readonly string[]): void {
  const at = java.findIndex((line, index) => line !== own[index]);
  if (at < 0 && own.length === java.length) return;
  const index = at < 0 ? java.length : at;
  throw new Difference(
    `partition ${String(partition)}, record ${String(index)} of ${String(java.length)} (${String(own.length)} read): ` +
      `Java has "${java[index] ?? 'none'}", this consumer "${own[index] ?? 'none'}"`,
  );
}
