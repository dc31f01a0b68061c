/** Times in seconds since the epoch, and one value for each time; `null` if the value is unknown. */
export type Points = readonly [readonly number[], readonly (number | null)[]];

/** The last, the lowest and the highest value; `null` if unknown. */
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

/** Indices of values whose neighbours are both unknown, so that no line connects them. */
export function lonePoints(values: ArrayLike<number | null | undefined>): number[] {
  const isThere = (index: number): boolean => (values[index] ?? null) !== null;
  const found: number[] = [];
  for (let index = 0; index < values.length; index += 1)
    if (isThere(index) && !isThere(index - 1) && !isThere(index + 1)) found.push(index);
  return found;
}

const SLOT_SECONDS = 300;

/** Averages over five minutes, the newest first. `values` has one average for each chart; `null` if the chart has no value in this time. */
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
