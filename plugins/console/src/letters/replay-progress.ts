import type { ReplayAnswer } from '../common/answers.ts';
import type { RestOfReplay } from './letter-selection.ts';

/** What was read of a replay at a time; milliseconds. */
export interface ReadAt {
  readonly at: number;
  readonly read: number;
}

/** Offsets behind it and in all. */
export function progressOf({ partitions }: Pick<ReplayAnswer, 'partitions'>): {
  readonly done: number;
  readonly all: number;
} {
  const sum = (of: (part: ReplayAnswer['partitions'][number]) => number) =>
    partitions.reduce((total, part) => total + Math.max(0, of(part)), 0);
  return { done: sum(({ from, next }) => next - from), all: sum(({ from, end }) => end - from) };
}

/** Letters read in a second; `undefined`: that cannot be told. */
export function readRate(before: ReadAt | undefined, now: ReadAt): number | undefined {
  if (before === undefined || now.at <= before.at || now.read < before.read) return undefined;
  return ((now.read - before.read) * 1000) / (now.at - before.at);
}

/** What it has not come to; `undefined`: there is nothing, or it is not known by which transforms. */
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

/** Letters that this replay has written again lie behind its ends. */
export function failedAgain({ partitions }: ReplayAnswer): {
  readonly offsets: readonly { readonly partition: number; readonly from: number }[];
} {
  return { offsets: partitions.map(({ partition, end }) => ({ partition, from: end })) };
}
