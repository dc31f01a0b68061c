const ZERO = 48;
const NINE = 57;
const MINUS = 45;
const POINT = 46;
const EXACT_DIGITS = 15;

/** Exact up to 10^22. */
export const POWERS_OF_TEN: readonly number[] = Array.from(
  { length: EXACT_DIGITS + 1 },
  (_, exponent) => 10 ** exponent,
);

/**
 * The double that a JSON number stands for when it has at most 15 digits and no exponent, as most do: a double holds them and
 * their power of ten exactly, so the quotient is the nearest one. `undefined` for any other; `Number` takes three times as long.
 */
export function shortDecimal(text: string, start: number, end: number): number | undefined {
  const negative = text.charCodeAt(start) === MINUS;
  const first = negative ? start + 1 : start;
  if (end - first > EXACT_DIGITS + 1) return undefined;
  let digits = 0;
  let pointAt = end;
  for (let at = first; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code >= ZERO && code <= NINE) digits = digits * 10 + (code - ZERO);
    else if (code === POINT && pointAt === end) pointAt = at;
    else return undefined;
  }
  const fraction = pointAt === end ? 0 : end - pointAt - 1;
  if (pointAt - first + fraction > EXACT_DIGITS) return undefined;
  const value = fraction === 0 ? digits : digits / POWERS_OF_TEN[fraction]!;
  return negative ? -value : value;
}
