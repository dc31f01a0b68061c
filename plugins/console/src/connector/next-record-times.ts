import type { MessagePage } from '../common/answers.ts';
import { inPath, request } from '../common/api.ts';
import type { OffsetRow } from './offset-rows.ts';

/** Maximum number of partitions whose next record is read, because each needs a request. */
const MAX_PARTITIONS = 10;

/** Requests the newest message up to an offset. */
export type ReadMessage = (place: {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}) => Promise<MessagePage>;

/**
 * Reads the timestamps of the next records that a sink will deliver, one partition after another, the largest lag first.
 * Calls `found` with the key of the row and the timestamp in milliseconds. Partitions without lag have no next record.
 * If the record at the position does not exist, for example after compaction, its time stays unknown.
 */
export async function readNextTimes(
  rows: readonly OffsetRow[],
  read: ReadMessage,
  found: (key: string, timestamp: number) => void,
  isWanted: () => boolean,
): Promise<void> {
  const behind = rows
    .filter(({ lag }) => (lag ?? 0) > 0)
    .sort((a, b) => (b.lag ?? 0) - (a.lag ?? 0))
    .slice(0, MAX_PARTITIONS);
  for (const { key, partition, current, first } of behind) {
    const offset = Number((current ?? first)?.['kafka_offset']);
    const place = { topic: String(partition['kafka_topic']), partition: Number(partition['kafka_partition']), offset };
    const page = Number.isSafeInteger(offset) ? await read(place).catch(() => undefined) : undefined;
    if (!isWanted()) return;
    const timestamp = page?.messages.find((each) => each.offset === offset)?.timestamp ?? undefined;
    if (timestamp !== undefined) found(key, timestamp);
  }
}

/** Reads one message of a connector's topic. */
export function messageReader(connector: string): ReadMessage {
  const path = `/ui/connectors/${inPath(connector)}/messages`;
  return (place) => request<MessagePage>('POST', path, { ...place, limit: 1 });
}
