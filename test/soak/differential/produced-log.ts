import type { ProducedRecord } from '../../../src/kafka/api.ts';
import { contentOf, Difference, type ReadPartition } from './record-lines.ts';

/** A record that was passed to a producer. */
export interface Sent {
  readonly producer: number;
  readonly partition: number;
  readonly content: string;
  /** In milliseconds. If absent, the timestamp is the producer's clock between two known times. */
  readonly timestamp: number | undefined;
  readonly handedOverAt: number;
  acknowledgedAt: number;
  outcome: 'sent' | 'refused' | 'committed' | 'aborted';
}

export function sentRecord(
  producer: number,
  partition: number,
  record: Pick<ProducedRecord, 'key' | 'value' | 'headers' | 'timestamp'>,
): Sent {
  return {
    producer,
    partition,
    content: contentOf(record),
    timestamp: record.timestamp ?? undefined,
    handedOverAt: Date.now(),
    acknowledgedAt: Infinity,
    outcome: 'sent',
  };
}

/**
 * Throws unless the partition contains exactly the expected records. The records of one producer must be in the order
 * in which they were passed to it. Several producers are distinguished by their timestamps.
 */
export function requireWritten(
  where: string,
  { start, end, lines }: ReadPartition,
  sent: readonly Sent[],
  timestampType: string,
): void {
  const producers = new Map<number, { readonly records: Sent[]; next: number }>();
  for (const each of sent) {
    const own = producers.get(each.producer);
    if (own === undefined) producers.set(each.producer, { records: [each], next: 0 });
    else own.records.push(each);
  }
  const kind = timestampType === 'LogAppendTime' ? 'append' : 'create';
  for (const [index, line] of lines.entries()) {
    const found = [...producers.values()].find(({ records, next }) => isOf(line, records[next], kind));
    if (found === undefined) {
      const expected = [...producers.values()].map(({ records, next }) => textOf(records[next])).join(' or ');
      throw new Difference(
        `${where}, record ${String(index)} of ${String(sent.length)}: Java read "${line}", sent was ${expected}`,
      );
    }
    found.next += 1;
  }
  if (lines.length !== sent.length) {
    throw new Difference(
      `${where}: ${String(sent.length)} records were sent, Java read ${String(lines.length)} from offset ${String(start)} to ${String(end)}`,
    );
  }
}

function isOf(line: string, sent: Sent | undefined, kind: string): boolean {
  if (sent === undefined) return false;
  const [, time = '', own = '', ...content] = line.split(' ');
  if (own !== kind || content.join(' ') !== sent.content) return false;
  if (kind === 'append') return true;
  if (sent.timestamp !== undefined) return Number(time) === sent.timestamp;
  return Number(time) >= sent.handedOverAt && Number(time) <= sent.acknowledgedAt;
}

function textOf(sent: Sent | undefined): string {
  return sent === undefined ? 'no more' : `"${String(sent.timestamp ?? 'any time')} ${sent.content}"`;
}
