/** A longer `given` is not compared, to limit the time. */
const MAX_LENGTH = 100;
/** One typo is accepted per this number of characters. */
const CHARACTERS_PER_TYPO = 4;
const MAX_TYPOS = 3;
/** Shorter prefixes are too ambiguous. */
const MIN_PREFIX = 5;

/**
 * The known name that was probably meant; `undefined` if there is none. If names are similar to `given`, it is the one
 * with the fewest typos (an extra, missing, wrong or transposed character). Otherwise, prefixes are compared: the result
 * is the name that begins with `given`, or with which `given` begins, unless several names do. A `-`, `.` or `_` must
 * follow the prefix.
 */
export function nearestName(given: string, known: Iterable<string>): string | undefined {
  if (given.length > MAX_LENGTH) return undefined;
  const names = [...known];
  let nearest: string | undefined;
  let fewest = Math.min(MAX_TYPOS, Math.floor(given.length / CHARACTERS_PER_TYPO)) + 1;
  for (const name of names) {
    const typos = typosBetween(given, name, fewest - 1);
    if (typos >= fewest) continue;
    nearest = name;
    fewest = typos;
  }
  if (nearest !== undefined) return nearest;
  const [prefix, another] = names.filter((name) => hasPrefix(given, name) || hasPrefix(name, given));
  return another === undefined ? prefix : undefined;
}

/** `; did you mean x?`, or an empty text. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const nearest = nearestName(given, known);
  return nearest === undefined ? '' : `; did you mean ${nearest}?`;
}

function hasPrefix(text: string, prefix: string): boolean {
  if (prefix.length < MIN_PREFIX || !text.startsWith(prefix)) return false;
  return /[-._]/.test(text.charAt(prefix.length));
}

/**
 * The number of typos (Damerau-Levenshtein distance), or a number above `limit` if there are more. Only a band of the
 * table that is as wide as the limit is computed.
 */
function typosBetween(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) > limit) return limit + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = new Array<number>(other.length + 1).fill(limit + 1);
    if (row <= limit) current[0] = row;
    let least = current[0] ?? limit + 1;
    for (let column = Math.max(1, row - limit); column <= Math.min(other.length, row + limit); column++) {
      const same = one[row - 1] === other[column - 1];
      let typos = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const transposed =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (transposed) typos = Math.min(typos, (beforeLast[column - 2] ?? 0) + 1);
      current[column] = typos;
      least = Math.min(least, typos);
    }
    if (least > limit) return limit + 1;
    [beforeLast, last] = [last, current];
  }
  return last[other.length] ?? limit + 1;
}
