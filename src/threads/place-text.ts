import type { Place, RecordRange } from '../observe/work-place.ts';

const MAX_RANGES = 3;

/** Describes the last activity of a task as part of a sentence, such as `in the put of 500 records of task sink-0, topic …`. */
export function placeText({ task, stage, ranges, record }: Place): string {
  const shown = record === undefined ? ranges.slice(-MAX_RANGES) : [record];
  return [`in the ${stage} of task ${task}`, ...shown.map(rangeText)].join(', ');
}

function rangeText({ topic, partition, from, to }: RecordRange): string {
  const offsets = to - from === 1 ? `offset ${String(from)}` : `offsets ${String(from)} to ${String(to - 1)}`;
  return `topic ${topic}, partition ${String(partition)}, ${offsets}`;
}
