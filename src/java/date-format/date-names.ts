/** English names of months, days, eras and day periods in Java 17. */

const LONG_MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const;
const LONG_DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

interface Names {
  readonly long: readonly string[];
  readonly short: readonly string[];
}

export const MONTHS: Names = { long: LONG_MONTHS, short: LONG_MONTHS.map((name) => name.slice(0, 3)) };
export const DAYS: Names = { long: LONG_DAYS, short: LONG_DAYS.map((name) => name.slice(0, 3)) };
export const ERAS = ['BC', 'AD'] as const;
export const LONG_ERAS = ['Before Christ', 'Anno Domini'] as const;
export const HALVES = ['AM', 'PM'] as const;
