import type { ReplayAnswer } from '../common/answers.ts';
import type { RestOfReplay } from './selection-form.ts';

/** `read`: the number of records that a replay had read at the time `at`, in milliseconds. */
export interface ReadAt {
  readonly at: number;
  readonly read: number;
}

/** The number of processed offsets, and the number of all offsets of the replay. */
export function progressOf({ partitions }: Pick<ReplayAnswer, 'partitions'>): {
  readonly done: number;
  readonly all: number;
} {
  const sum = (of: (part: ReplayAnswer['partitions'][number]) => number) =>
    partitions.reduce((total, part) => total + Math.max(0, of(part)), 0);
  return { done: sum(({ from, next }) => next - from), all: sum(({ from, end }) => end - from) };
}

/** Records read per second between two moments; `undefined` if unknown. */
export function readRate(before: ReadAt | undefined, now: ReadAt): number | undefined {
  if (before === undefined || now.at <= before.at || now.read < before.read) return undefined;
  return ((now.read - before.read) * 1000) / (now.at - before.at);
}

/**
 * The records that a stopped or failed replay has not processed. Returns `undefined` if there are none, or if the
 * replay replaced the connector's transforms, because the API does not return the options of the replacement.
 */
export function restOf({ id, state, transforms, selection, partitions }: ReplayAnswer): RestOfReplay | undefined {
  if (state !== 'STOPPED' && state !== 'FAILED') return undefined;
  const left = partitions.filter(({ next, end }) => next < end);
  const offsets = left.flatMap(({ partition, next, end }) => {
    const ranges = selection.offsets?.filter((range) => range.partition === partition) ?? [{ partition }];
    return ranges.flatMap(({ from = 0, to = end - 1 }) => {
      const range = { partition, from: Math.max(from, next), to: Math.min(to, end - 1) };
      return range.from > range.to ? [] : [range];
    });
  });
  return transforms !== null || offsets.length === 0 ? undefined : { id, selection: { ...selection, offsets } };
}

/**
 * Selects the records after the end offsets of the replay. The replay has written the records that failed again there.
 */
export function failedAgain({ partitions }: ReplayAnswer): {
  readonly offsets: readonly { readonly partition: number; readonly from: number }[];
} {
  return { offsets: partitions.map(({ partition, end }) => ({ partition, from: end })) };
}
