import type { ConnectorOffsets, OffsetsPreview, TaskFigures } from '../common/answers.ts';
import { exactText, parseExact } from '../common/exact-json.ts';

/** An entry of `GET` and `PATCH /connectors/{connector}/offsets`. A `null` offset means that the partition has no stored offset. */
export type OffsetEntry = ConnectorOffsets['offsets'][number];
type Coordinates = OffsetEntry['partition'];
/** A number of records; `null` if unknown. */
type Count = number | null;
type ShownPreview = Pick<OffsetsPreview, 'note' | 'partitions'>;

/** The offsets to set, with their effect; a reset removes all offsets. */
export interface PlannedChange {
  readonly isReset: boolean;
  readonly preview: ShownPreview;
}

/** The stored offset of a connector for a partition or a table. */
export interface OffsetRow {
  readonly key: string;
  readonly partition: Coordinates;
  readonly current: Coordinates | null;
  /** Only for sinks: the first offset of the partition, the end offset, and the number of undelivered records. */
  readonly first?: Coordinates | null;
  readonly end?: Coordinates | null;
  readonly lag?: Count;
}

/**
 * Builds the rows of a sink from the previews of the earliest and the latest offsets. If `tasks` have the lag of a
 * partition, it is used instead of the lag of the preview, which is measured from the committed offset.
 */
export function sinkRows(
  earliest: ShownPreview,
  latest: ShownPreview,
  tasks: readonly Pick<TaskFigures, 'partitions'>[] = [],
): readonly OffsetRow[] {
  const lags = new Map<string, Count>(
    tasks.flatMap(({ partitions }) =>
      partitions.map(({ topic, partition, lag }) => [`${topic}-${String(partition)}`, lag] as const),
    ),
  );
  const firsts = new Map(earliest.partitions.map(({ partition, offset }) => [partitionText(partition), offset]));
  return latest.partitions.map(({ partition, current, offset, skipped }) => {
    const key = partitionText(partition);
    return { key, partition, current, first: firsts.get(key) ?? null, end: offset, lag: lags.get(key) ?? skipped };
  });
}

export function sourceRows(entries: readonly OffsetEntry[]): readonly OffsetRow[] {
  return entries.map(({ partition, offset }) => ({ key: partitionText(partition), partition, current: offset }));
}

/** Formats a partition: `orders-0` for a Kafka partition, the value if there is only one (such as a table name), otherwise JSON. */
export function partitionText(partition: Coordinates): string {
  const { kafka_topic: topic, kafka_partition: number } = partition;
  if (typeof topic === 'string' && number !== undefined) return `${topic}-${exactText(number)}`;
  const values = Object.values(partition);
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : exactText(partition);
}

/** Formats an offset as a number, a time, or JSON; `undefined` for the beginning. */
export function offsetText(offset: Coordinates | null): string | undefined {
  if (offset === null || Object.keys(offset).length === 0) return undefined;
  const { kafka_offset: position, incrementing, timestamp_us: micros } = offset;
  if (isInteger(position)) return String(position);
  if (isInteger(incrementing)) return String(incrementing);
  if (isInteger(micros)) return timeText(BigInt(micros));
  return exactText(offset);
}

/** Formats an offset in the form in which the user may type it: a number, or JSON. */
export function writtenOffset(offset: Coordinates | null): string {
  if (offset === null) return '';
  const { kafka_offset: position, incrementing } = offset;
  if (isInteger(position)) return String(position);
  return isInteger(incrementing) ? String(incrementing) : exactText(offset);
}

/** Parses an offset that the user typed. Returns `undefined` if the text is invalid for this row. */
export function readOffset(text: string, { partition, current }: OffsetRow): OffsetEntry | undefined {
  const trimmed = text.trim();
  const isSink = 'kafka_topic' in partition;
  if (/^-?\d{1,19}$/.test(trimmed)) {
    const number = parseExact(trimmed);
    if (isSink) return Number(trimmed) < 0 ? undefined : { partition, offset: { kafka_offset: number } };
    return {
      partition,
      offset: { [current !== null && 'timestamp_us' in current ? 'timestamp_us' : 'incrementing']: number },
    };
  }
  if (isSink) return undefined;
  try {
    const offset = parseExact(trimmed);
    const isObject = typeof offset === 'object' && offset !== null && !Array.isArray(offset);
    return isObject ? { partition, offset: offset as Coordinates } : undefined;
  } catch {
    return undefined;
  }
}

/** The effect on the partitions that are not left out: the numbers of records that are delivered again (`again`) and skipped. */
export function totals(
  { partitions }: ShownPreview,
  leftOut: ReadonlySet<string>,
): { readonly again: Count; readonly skipped: Count; readonly entries: readonly OffsetEntry[] } {
  const chosen = partitions.filter(({ partition }) => !leftOut.has(partitionText(partition)));
  const sum = (key: 'again' | 'skipped'): Count =>
    chosen.reduce<Count>((total, each) => (total === null || each[key] === null ? null : total + each[key]), 0);
  const entries = chosen.map(({ partition, offset }) => ({ partition, offset }));
  return { again: sum('again'), skipped: sum('skipped'), entries };
}

function isInteger(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}

const MICROS_PER_SECOND = 1_000_000n;

function timeText(micros: bigint): string {
  const millis = Number(micros / 1000n);
  if (Math.abs(millis) > 8.64e15) return String(micros);
  const rest = ((micros % MICROS_PER_SECOND) + MICROS_PER_SECOND) % MICROS_PER_SECOND;
  const seconds = new Date(Number((micros - rest) / 1000n)).toISOString().slice(0, 19).replace('T', ' ');
  return `${seconds}.${String(rest).padStart(6, '0')} UTC`;
}
