import { quoteLiteral } from '../quote.ts';
import { TimestampWriter } from '../timestamp-text.ts';
import { type KnownColumn, Refused } from './translation.ts';

const TIMESTAMP_TYPE = /^timestamp(?:\((\d)\))? (with|without) time zone$/;

/**
 * Years 0 to 2970, the range in the original database's manual (time-series SELECT). An integer outside this range was
 * written in another unit.
 */
const MIN_MICROS = -62_167_219_200_000_000n;
const MAX_MICROS = 31_556_995_200_000_000n;

const UNITS: ReadonlyMap<number, string> = new Map([
  [0, 'seconds'],
  [3, 'milliseconds'],
  [6, 'microseconds'],
]);

/** Returns the fractional digits of a timestamp column; `undefined` for other types. */
export function timestampPrecision(column: KnownColumn): number | undefined {
  const match = TIMESTAMP_TYPE.exec(column.type);
  return match === null ? undefined : Number(match[1] ?? '6');
}

/** Number of digits of an integer that a double always represents exactly. */
const SAFE_DIGITS = 15;
/** Integers with more digits are out of range; converting a megabyte of digits to BigInt would take seconds. */
const MAX_DIGITS = 40;

const instants = new TimestampWriter('+00');
const wallTimes = new TimestampWriter('');

/**
 * Converts an integer written to a timestamp column to a literal. The unit of the integer follows from the column's
 * precision (3: milliseconds, 6: microseconds) and is never guessed from the size of the integer. Throws Refused
 * (22008) beyond the years 0 to 2970.
 */
export function timestampLiteral(column: KnownColumn, digits: string, isNegative: boolean): string {
  const precision = timestampPrecision(column) ?? 6;
  const micros = microseconds(digits, isNegative, precision);
  if (micros === undefined || micros < MIN_MICROS || micros > MAX_MICROS) {
    const unit = UNITS.get(precision) ?? `units of 10^-${String(precision)} seconds`;
    throw new Refused(
      `the integer ${isNegative ? '-' : ''}${digits.slice(0, MAX_DIGITS)} is out of range in ${unit}, the unit of column ` +
        `"${column.name}" (${column.type}): convert it, or write the time as text`,
      '22008',
    );
  }
  const writer = column.type.includes('without') ? wallTimes : instants;
  return quoteLiteral(writer.write(micros));
}

function microseconds(digits: string, isNegative: boolean, precision: number): number | bigint | undefined {
  if (digits.length > MAX_DIGITS) return undefined;
  const factor = 10 ** (6 - precision);
  const micros = Number(digits) * factor;
  if (digits.length <= SAFE_DIGITS && Number.isSafeInteger(micros)) return isNegative ? -micros : micros;
  return BigInt(`${isNegative ? '-' : ''}${digits}`) * BigInt(factor);
}
