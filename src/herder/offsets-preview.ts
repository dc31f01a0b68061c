import { listEntries } from '../config/list-text.ts';
import type { ConnectorConfig, SinkOffset } from '../connect/api.ts';
import type { StoredOffset } from '../connect/source/offset-storage.ts';
import { topicPartitionKey, type TopicPartition } from '../data/record.ts';
import { RequestError } from '../errors.ts';
import { javaRegexMatcher } from '../java/java-regex.ts';
import type { Admin } from '../kafka/api.ts';
import { sinkOffsets, type OffsetChange } from './offset-requests.ts';

/** Where a connector would resume. */
export type OffsetTarget =
  | { readonly to: 'earliest' | 'latest' }
  /** The first record or row from this time on; milliseconds since the epoch. */
  | { readonly time: number }
  | { readonly offsets: readonly OffsetChange[] };

export interface PreviewedPartition extends StoredOffset {
  /** Where the connector resumes without the change; `null` if it starts like a new connector. */
  readonly current: StoredOffset['offset'];
  /** Number of records that would be delivered again, and number of records that would be skipped; `null` if unknown. */
  readonly again: number | null;
  readonly skipped: number | null;
}

/** Result of a preview. The response of `POST /connectors/{connector}/offsets/preview` also contains `offsets`. */
export interface OffsetsPreview {
  readonly partitions: readonly PreviewedPartition[];
  /** Sums over all partitions; `null` if the number of a partition is unknown. */
  readonly again: number | null;
  readonly skipped: number | null;
  /** Explains the meaning of the numbers. */
  readonly note: string;
}

const MAX_PARTITIONS = 10_000;
const BY_OFFSETS =
  'The numbers are differences between offsets. There may be fewer records, because compaction and transactions leave gaps. Records that are no longer in the topic are not counted.';

export function previewOf(partitions: readonly PreviewedPartition[], note: string): OffsetsPreview {
  const sum = (key: 'again' | 'skipped'): number | null =>
    partitions.reduce<number | null>((total, each) => {
      const more = each[key];
      return total === null || more === null ? null : total + more;
    }, 0);
  return { partitions, again: sum('again'), skipped: sum('skipped'), note };
}

interface Bounds extends TopicPartition {
  readonly first: number;
  readonly end: number;
}

/** The consumer group of a sink. */
interface SinkGroup {
  readonly groupId: string;
  /** `auto.offset.reset` of its consumers. */
  readonly offsetReset: string;
}

/** Computes how many records a sink would read again or skip. Does not write anything. */
export async function previewSink(
  admin: Admin,
  { groupId, offsetReset }: SinkGroup,
  config: ConnectorConfig,
  target: OffsetTarget,
): Promise<OffsetsPreview> {
  const committed = new Map(
    (await admin.groupOffsets(groupId)).map((each) => [topicPartitionKey(each.topic, each.partition), each]),
  );
  const named = new Set(
    'offsets' in target
      ? sinkOffsets(target.offsets).map(({ topic }) => topic)
      : await topicsOf(admin, config, committed.values()),
  );
  const bounds = await boundsOf(admin, named);
  const wanted = 'offsets' in target ? sinkOffsets(target.offsets) : await positionsAt(admin, bounds, target);
  const partitions = wanted.map(({ topic, partition, offset }): PreviewedPartition => {
    const key = topicPartitionKey(topic, partition);
    const limits = bounds.get(key);
    if (limits === undefined) throw new RequestError(400, `Topic ${topic} has no partition ${String(partition)}`);
    const known = committed.get(key)?.offset;
    const [from, to] = [resumesAt(known, limits, offsetReset), resumesAt(offset, limits, offsetReset)];
    const moved = from === undefined || to === undefined ? null : to - from;
    return {
      partition: { kafka_topic: topic, kafka_partition: partition },
      current: known === undefined ? null : { kafka_offset: known },
      offset: offset === null ? null : { kafka_offset: offset },
      again: moved === null ? null : Math.max(0, -moved),
      skipped: moved === null ? null : Math.max(0, moved),
    };
  });
  return previewOf(partitions, BY_OFFSETS);
}

/**
 * Where a consumer with this committed offset resumes. Without an offset, or if the offset is out of the range of the
 * partition, `auto.offset.reset` decides; `undefined`: the consumer fails (`none`).
 */
function resumesAt(offset: number | null | undefined, { first, end }: Bounds, offsetReset: string): number | undefined {
  if (offset !== undefined && offset !== null && offset >= first && offset <= end) return offset;
  if (offsetReset === 'none') return undefined;
  return offsetReset === 'latest' ? end : first;
}

/** Returns the existing topics that the sink reads or for which its group has committed offsets. */
async function topicsOf(admin: Admin, config: ConnectorConfig, committed: Iterable<TopicPartition>): Promise<string[]> {
  const regex = config['topics.regex'] ?? '';
  const matches = regex === '' ? () => false : javaRegexMatcher(regex);
  const existing = await admin.topics();
  const named = new Set([...listEntries(config['topics']), ...Array.from(committed, ({ topic }) => topic)]);
  return existing.filter((topic) => named.has(topic) || matches(topic));
}

async function boundsOf(admin: Admin, topics: ReadonlySet<string>): Promise<ReadonlyMap<string, Bounds>> {
  const counts = await admin.describeTopics([...topics]);
  const count = [...counts.values()].reduce((sum, each) => sum + each, 0);
  if (count > MAX_PARTITIONS)
    throw new RequestError(400, `Too many partitions; the maximum is ${String(MAX_PARTITIONS)}`);
  const bounds = new Map<string, Bounds>();
  for (const topic of [...counts.keys()].sort()) {
    const [firsts, ends] = await Promise.all([admin.offsetsAt(topic, 'earliest'), admin.endOffsets(topic)]);
    const first = new Map(firsts.map(({ partition, offset }) => [partition, offset]));
    for (const { partition, offset } of [...ends].sort((a, b) => a.partition - b.partition)) {
      const limits = { topic, partition, first: first.get(partition) ?? 0, end: offset };
      bounds.set(topicPartitionKey(topic, partition), limits);
    }
  }
  return bounds;
}

async function positionsAt(
  admin: Admin,
  bounds: ReadonlyMap<string, Bounds>,
  target: Exclude<OffsetTarget, { offsets: unknown }>,
): Promise<SinkOffset[]> {
  const all = [...bounds.values()];
  if ('to' in target) {
    return all.map(({ topic, partition, first, end }) => {
      return { topic, partition, offset: target.to === 'earliest' ? first : end };
    });
  }
  const at = new Map<string, number>();
  for (const topic of new Set(all.map((each) => each.topic))) {
    for (const each of await admin.offsetsAt(topic, target.time))
      at.set(topicPartitionKey(topic, each.partition), each.offset);
  }
  return all.map(({ topic, partition, end }) => {
    return { topic, partition, offset: at.get(topicPartitionKey(topic, partition)) ?? end };
  });
}
