/** Longer names are not compared: the comparison takes time. */
const MAX_LENGTH = 100;
/** A name may have one slip for each four of its characters. */
const CHARACTERS_PER_SLIP = 4;
const MAX_SLIPS = 3;
/** Shorter beginnings are those of too many names. */
const MIN_BEGINNING = 5;

/**
 * The known name that was probably meant: one with a few slips less (a letter too many, missing, wrong, or two exchanged), else
 * the only one that begins with what was given, or that it begins with, up to a `-`, `.` or `_`.
 */
export function nearestName(given: string, known: Iterable<string>): string | undefined {
  if (given.length > MAX_LENGTH) return undefined;
  const names = [...known];
  let nearest: string | undefined;
  let fewest = Math.min(MAX_SLIPS, Math.floor(given.length / CHARACTERS_PER_SLIP)) + 1;
  for (const name of names) {
    const slips = slipsBetween(given, name, fewest - 1);
    if (slips >= fewest) continue;
    nearest = name;
    fewest = slips;
  }
  if (nearest !== undefined) return nearest;
  const [beginning, another] = names.filter((name) => beginsWith(given, name) || beginsWith(name, given));
  return another === undefined ? beginning : undefined;
}

/** `; did you mean x?`, or nothing. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const nearest = nearestName(given, known);
  return nearest === undefined ? '' : `; did you mean ${nearest}?`;
}

function beginsWith(text: string, beginning: string): boolean {
  if (beginning.length < MIN_BEGINNING || !text.startsWith(beginning)) return false;
  return /[-._]/.test(text.charAt(beginning.length));
}

/** The number of slips, or more than `limit` where there are more; of the table only a band as wide as the limit is computed. */
function slipsBetween(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) > limit) return limit + 1;
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = new Array<number>(other.length + 1).fill(limit + 1);
    if (row <= limit) current[0] = row;
    let least = current[0] ?? limit + 1;
    for (let column = Math.max(1, row - limit); column <= Math.min(other.length, row + limit); column++) {
      const same = one[row - 1] === other[column - 1];
      let slips = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const exchanged =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (exchanged) slips = Math.min(slips, (before[column - 2] ?? 0) + 1);
      current[column] = slips;
      least = Math.min(least, slips);
    }
    if (least > limit) return limit + 1;
    [before, last] = [last, current];
  }
  return last[other.length] ?? limit + 1;
}
