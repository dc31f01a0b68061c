import type { ConnectorConfig } from '../../connect/api.ts';
import { placeInReplay } from './dead-letter-record.ts';
import type { DeadLetterSelection } from '../../connect/dead-letters/dead-letter-selection.ts';
import { RequestError } from '../../errors.ts';
import type { DeadLetterReader } from './dead-letter-reader.ts';
import type { StoredReplay } from './stored-replay.ts';

interface ConnectorTopic {
  readonly connector: string;
  /** The configuration, in which values replace the variables. */
  readonly config: ConnectorConfig;
}

/** Time limit of the search for records of a selection. */
const FIND_TIMEOUT_MS = 30_000;
/** Limits of `countFailedRecords`, which is called at the end of a replay that was resumed. */
const MAX_COUNTED = 5_000_000;
const COUNT_TIMEOUT_MS = 60_000;
/** Number of offsets that one bitmap of an `OffsetSet` covers. */
const PART_OFFSETS = 32_768;

/**
 * Resolves if the topic has a record of the selection, or if the time limit was reached before all records were
 * examined.
 * @throws RequestError 404: the topic has no such record
 */
export async function requireRecords(
  reader: DeadLetterReader,
  { connector, config, selection }: ConnectorTopic & { readonly selection: DeadLetterSelection },
  signal: AbortSignal,
): Promise<string> {
  const { topic, selected, hasMore } = await reader.readDeadLetters(
    { connector, config, selection },
    () => false,
    AbortSignal.any([signal, AbortSignal.timeout(FIND_TIMEOUT_MS)]),
  );
  if (selected > 0 || hasMore) return 'true';
  throw new RequestError(404, `Topic ${topic} has no records of group ${String(selection.group)} to replay`);
}

/**
 * Counts the records that failed again in a replay, and returns the number as text. The dead letters of these failures
 * may be in any partition. If the replay covers the partition, they are at or after its `end` there. If the task has
 * put a record twice, there may be two dead letters, but the record counts once.
 */
export async function countFailedRecords(
  reader: DeadLetterReader,
  { connector, config, replay }: ConnectorTopic & { readonly replay: StoredReplay },
  signal: AbortSignal,
): Promise<string> {
  const ends = new Map(replay.partitions.map(({ partition, end }) => [partition, end]));
  const all = await reader.ranges(connector, config, {});
  const offsets = all.partitions.map(({ partition }) => ({ partition, from: ends.get(partition) ?? 0 }));
  const failed = new OffsetSet();
  const { hasMore } = await reader.readDeadLetters(
    { connector, config, selection: { offsets }, limit: MAX_COUNTED },
    ({ replayed = '' }) => {
      const place = placeInReplay(replay.group, replayed);
      if (place !== undefined) failed.add(place.partition, place.offset);
      return undefined;
    },
    AbortSignal.any([signal, AbortSignal.timeout(COUNT_TIMEOUT_MS)]),
  );
  if (hasMore) {
    throw new Error(`Not all of the records after the replay were read within ${String(COUNT_TIMEOUT_MS / 1000)} s`);
  }
  return String(failed.size);
}

/**
 * A set of offsets of partitions. It has one bit for each offset, because many of them are close together.
 * @internal
 */
export class OffsetSet {
  readonly #parts = new Map<string, Uint32Array>();
  size = 0;

  add(partition: number, offset: number): void {
    const key = `${String(partition)}/${String(Math.floor(offset / PART_OFFSETS))}`;
    let part = this.#parts.get(key);
    if (part === undefined) this.#parts.set(key, (part = new Uint32Array(PART_OFFSETS / 32)));
    const bit = offset % PART_OFFSETS;
    const word = part[bit >>> 5] ?? 0;
    const mask = 1 << (bit & 31);
    if ((word & mask) !== 0) return;
    part[bit >>> 5] = word | mask;
    this.size++;
  }
}
