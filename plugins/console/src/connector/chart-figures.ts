/** Seconds since the epoch, and the values at them. */
export type Points = readonly [readonly number[], readonly (number | null)[]];

/** The last, the lowest and the highest value; `null` if the series is empty. */
export function extremes([, values]: Points): {
  readonly last: number | null;
  readonly min: number | null;
  readonly max: number | null;
} {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return { last: null, min: null, max: null };
  return {
    last: values.at(-1) ?? null,
    min: known.reduce((a, b) => Math.min(a, b)),
    max: known.reduce((a, b) => Math.max(a, b)),
  };
}

/** Indices of values without neighbours, which no line connects. */
export function lonePoints(values: ArrayLike<number | null | undefined>): number[] {
  const isThere = (index: number): boolean => (values[index] ?? null) !== null;
  const found: number[] = [];
  for (let index = 0; index < values.length; index += 1)
    if (isThere(index) && !isThere(index - 1) && !isThere(index + 1)) found.push(index);
  return found;
}

const SLOT_SECONDS = 300;

/** Means of five minutes each, the newest first, of several charts; `null` where nothing is known. */
export function inFiveMinutes(
  charts: readonly Points[],
): readonly { readonly at: number; readonly values: readonly (number | null)[] }[] {
  const found = new Map<number, { sum: number; count: number }[]>();
  charts.forEach(([at, values], chart) => {
    at.forEach((second, index) => {
      const value = values[index];
      if (value === null || value === undefined) return;
      const slot = Math.floor(second / SLOT_SECONDS) * SLOT_SECONDS;
      const sums = found.get(slot) ?? charts.map(() => ({ sum: 0, count: 0 }));
      found.set(slot, sums);
      const own = sums[chart];
      if (own === undefined) return;
      own.sum += value;
      own.count += 1;
    });
  });
  return [...found]
    .sort(([a], [b]) => b - a)
    .map(([at, sums]) => ({ at, values: sums.map(({ sum, count }) => (count === 0 ? null : sum / count)) }));
}
