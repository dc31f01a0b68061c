import type { RecordRange } from '../../observe/work-place.ts';
import type { PartitionOffset } from '../api.ts';

/** Partitions that the place of a task names; there is room for some 30. */
const MAX_RANGES = 50;

/** What the task has taken and may still be working on; both maps by partition. */
export function unsettled(
  delivered: ReadonlyMap<string, PartitionOffset>,
  committed: ReadonlyMap<string, number>,
): readonly RecordRange[] {
  const ranges: RecordRange[] = [];
  for (const [key, { topic, partition, offset }] of delivered) {
    const from = committed.get(key) ?? 0;
    if (from < offset) ranges.push({ topic, partition, from, to: offset });
    if (ranges.length === MAX_RANGES) break;
  }
  return ranges;
}
