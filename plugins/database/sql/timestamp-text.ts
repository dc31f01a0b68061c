/** PostgreSQL's bounds, 4714-11-24 BC and 294277-01-01 (exclusive), in microseconds since 1970. */
export const MIN_TIMESTAMP_MICROS = -210866803200000000n;
export const END_TIMESTAMP_MICROS = 9224318016000000000n;

const MICROS_PER_SECOND = 1_000_000;
const SECONDS_PER_DAY = 86_400;

/**
 * Formats timestamps in PostgreSQL's input syntax: `2024-05-06 07:08:09.250000+00`, with `BC` for years before 1. The
 * text of the current second is cached, because adjacent rows usually share it.
 */
export class TimestampWriter {
  #second = Number.NaN;
  #prefix = '';
  #suffix = '';
  readonly #zone: string;

  /** `zone` is appended to the digits: `+00` for timestamptz, empty for timestamp (UTC). */
  constructor(zone: '' | '+00') {
    this.#zone = zone;
  }

  /** `micros` are microseconds since the epoch, within PostgreSQL's bounds. */
  write(micros: number | bigint): string {
    let second: number;
    let fraction: number;
    if (typeof micros === 'number') {
      second = Math.floor(micros / MICROS_PER_SECOND);
      fraction = micros - second * MICROS_PER_SECOND;
    } else {
      const remainder = micros % 1_000_000n;
      const floored = remainder < 0n ? remainder + 1_000_000n : remainder;
      second = Number((micros - floored) / 1_000_000n);
      fraction = Number(floored);
    }
    if (second !== this.#second) this.#moveTo(second);
    if (fraction === 0) return this.#prefix + this.#suffix;
    return `${this.#prefix}.${sixDigits(fraction)}${this.#suffix}`;
  }

  #moveTo(second: number): void {
    const day = Math.floor(second / SECONDS_PER_DAY);
    const ofDay = second - day * SECONDS_PER_DAY;
    const { year, month, dayOfMonth } = civilDate(day);
    const shownYear = year > 0 ? year : 1 - year;
    const date = `${String(shownYear).padStart(4, '0')}-${twoDigits(month)}-${twoDigits(dayOfMonth)}`;
    const hour = Math.floor(ofDay / 3600);
    const minute = Math.floor(ofDay / 60) % 60;
    this.#second = second;
    this.#prefix = `${date} ${twoDigits(hour)}:${twoDigits(minute)}:${twoDigits(ofDay % 60)}`;
    this.#suffix = year > 0 ? this.#zone : `${this.#zone} BC`;
  }
}

/**
 * Converts days since 1970-01-01 to the proleptic Gregorian date (Howard Hinnant, "chrono-compatible low-level date
 * algorithms"). `Date` is not used, because it ends in the year 275760, but PostgreSQL's timestamps end in 294276. Year
 * 0 is 1 BC.
 */
function civilDate(day: number): { year: number; month: number; dayOfMonth: number } {
  const shifted = day + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    dayOfMonth: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
  };
}

function twoDigits(value: number): string {
  return value < 10 ? `0${String(value)}` : String(value);
}

function sixDigits(value: number): string {
  return String(value).padStart(6, '0');
}
