import { parseInteger } from '../java-number-text.ts';
import { dateOf } from './calendar-days.ts';
import { CalendarFields, isoToCalendar, MS_PER_DAY, type CalendarField } from './calendar-fields.ts';
import { DAYS, ERAS, HALVES, LONG_ERAS, MONTHS } from './date-names.ts';
import type { PatternLetter, PatternPart } from './date-pattern.ts';
import { matchZoneName, numericZone } from './zone-text.ts';
import { offsetAtWall } from './zone-offsets.ts';

/** Numeric pattern letters and their fields. */
const NUMERIC: Readonly<Partial<Record<PatternLetter, CalendarField>>> = {
  d: 'dayOfMonth',
  H: 'hourOfDay',
  m: 'minute',
  s: 'second',
  S: 'millisecond',
  D: 'dayOfYear',
  F: 'dayOfWeekInMonth',
  w: 'weekOfYear',
  W: 'weekOfMonth',
  K: 'hour',
  u: 'dayOfWeek',
};

/** Two-digit years are in the century that starts this long before now. */
const CENTURY_START_YEARS = 80;

/** Field values by lower-case name. */
type NameValues = ReadonlyMap<string, number>;

function nameValues(lists: readonly (readonly string[])[], first = 0): NameValues {
  return new Map(lists.flatMap((names) => names.map((name, index) => [name.toLowerCase(), index + first] as const)));
}

const NAMES: Readonly<Partial<Record<PatternLetter, { readonly field: CalendarField; readonly values: NameValues }>>> =
  {
    G: { field: 'era', values: nameValues([ERAS, LONG_ERAS]) },
    M: { field: 'month', values: nameValues([MONTHS.long, MONTHS.short]) },
    L: { field: 'month', values: nameValues([MONTHS.long, MONTHS.short]) },
    E: { field: 'dayOfWeek', values: nameValues([DAYS.long, DAYS.short], 1) },
    a: { field: 'amPm', values: nameValues([HALVES]) },
  };

interface Century {
  readonly startMs: bigint;
  readonly startYear: number;
}

/** Thrown inside the parser if the text does not match the pattern. */
class NoMatch extends Error {}

/** Parses text by a pattern (java.text.SimpleDateFormat#parse, lenient). Keeps the zone that was parsed last. */
export class DateTextParser {
  readonly #parts: readonly PatternPart[];
  readonly #century = century(Date.now());
  zone = 'UTC';

  constructor(parts: readonly PatternPart[]) {
    this.#parts = parts;
  }

  parse(text: string): bigint | undefined {
    const fields = new CalendarFields();
    let ambiguousYear = false;
    let at = 0;
    try {
      for (const [index, part] of this.#parts.entries()) {
        if ('text' in part) {
          if (!text.startsWith(part.text, at)) return undefined;
          at += part.text.length;
        } else {
          const next = this.#parts[index + 1];
          const abuts = next !== undefined && 'letter' in next && isNumeric(next.letter, next.count);
          const result = this.#field(part.letter, part.count, abuts, text, at, fields);
          at = result.end;
          ambiguousYear ||= result.ambiguousYear ?? false;
        }
      }
    } catch (error) {
      if (error instanceof NoMatch) return undefined;
      throw error;
    }
    const ms = this.#resolve(fields);
    if (!ambiguousYear || ms >= this.#century.startMs) return ms;
    fields.addYears(100);
    return this.#resolve(fields);
  }

  #resolve(fields: CalendarFields): bigint {
    const { day, msOfDay } = fields.wallTime();
    const wallMs = day * MS_PER_DAY + msOfDay;
    const offset = this.#offset(fields, wallMs);
    if (Number.isSafeInteger(wallMs)) return BigInt(wallMs - offset);
    const exact = BigInt(day) * BigInt(MS_PER_DAY) + BigInt(msOfDay);
    return BigInt.asIntN(64, exact - BigInt(offset));
  }

  #offset(fields: CalendarFields, wallMs: number): number {
    if (fields.has('zoneOffset')) return fields.get('zoneOffset') + fields.get('dstOffset');
    const offset = offsetAtWall(this.zone, wallMs);
    return fields.has('dstOffset') ? offset.total - offset.summer + fields.get('dstOffset') : offset.total;
  }

  #field(
    letter: PatternLetter,
    count: number,
    abuts: boolean,
    text: string,
    start: number,
    fields: CalendarFields,
  ): { end: number; ambiguousYear?: boolean } {
    const at = afterBlanks(text, start);
    const names = isNumeric(letter, count) ? undefined : NAMES[letter];
    if (names !== undefined) return { end: nameAt(text, start, names.field, names.values, fields) };
    if (letter === 'z' || letter === 'Z') return { end: this.#zone(text, start, at, fields) };
    if (letter === 'X') return { end: isoZone(text, at, count, fields) };
    const { value, end } = integerAt(text, at, abuts ? start + count : undefined);
    switch (letter) {
      case 'y':
      case 'Y':
        return this.#year(letter, count, text.slice(at, end), value, end, fields);
      case 'M':
      case 'L':
        fields.set('month', value - 1);
        return { end };
      case 'k':
        fields.set('hourOfDay', value === 24 ? 0 : value);
        return { end };
      case 'h':
        fields.set('hour', value === 12 ? 0 : value);
        return { end };
      default:
        fields.set(NUMERIC[letter] ?? 'millisecond', letter === 'u' ? isoToCalendar(value) : value);
        return { end };
    }
  }

  /**
   * If the field has at most two pattern letters, a year of exactly two digits is in the century that started 80 years ago. Other
   * years are literal.
   */
  #year(
    letter: 'y' | 'Y',
    count: number,
    digits: string,
    value: number,
    end: number,
    fields: CalendarFields,
  ): { end: number; ambiguousYear: boolean } {
    const { startYear } = this.#century;
    const short = count <= 2 && /^\p{Nd}{2}$/u.test(digits);
    const ofCentury = Math.floor(startYear / 100) * 100 + value + (value < startYear % 100 ? 100 : 0);
    fields.set(letter === 'y' ? 'year' : 'weekYear', short ? ofCentury : value);
    return { end, ambiguousYear: short && value === startYear % 100 };
  }

  #zone(text: string, start: number, at: number, fields: CalendarFields): number {
    const sign = signAt(text, at);
    if (sign !== 0) return orFail(numericZone(text, at + 1, sign, { colon: false, count: 0 }, fields));
    if (/^gmt/i.test(text.slice(start, start + 3)) && /g/i.test(text.charAt(at))) {
      const gmtSign = signAt(text, start + 3);
      if (gmtSign !== 0) return orFail(numericZone(text, start + 4, gmtSign, { colon: true, count: 0 }, fields));
      fields.set('zoneOffset', 0).set('dstOffset', 0);
      return start + 3;
    }
    const match = matchZoneName(text, at, this.zone);
    if (match === undefined) throw new NoMatch();
    this.zone = match.zone;
    if (match.summerMs !== undefined) fields.clear('zoneOffset').set('dstOffset', match.summerMs);
    return match.end;
  }
}

/** True for numeric fields. A number directly before a numeric field has at most as many digits as its own pattern letters. */
function isNumeric(letter: PatternLetter, count: number): boolean {
  return letter === 'M' || letter === 'L' ? count <= 2 : !'GEazZX'.includes(letter);
}

function century(nowMs: number): Century {
  const day = Math.floor(nowMs / MS_PER_DAY);
  const startYear = dateOf(day).year - CENTURY_START_YEARS;
  const start = new Date(nowMs);
  start.setUTCFullYear(startYear);
  return { startYear, startMs: BigInt(start.getTime()) };
}

function afterBlanks(text: string, start: number): number {
  let at = start;
  while (text.charAt(at) === ' ' || text.charAt(at) === '\t') at++;
  if (at >= text.length) throw new NoMatch();
  return at;
}

/** Integers as accepted by `DecimalFormat.parse`: an optional minus, digits of any script, and an optional exponent. */
const INTEGER = /-?\p{Nd}+(?:E-?\p{Nd}+)?/uy;

function integerAt(text: string, at: number, limit: number | undefined): { value: number; end: number } {
  if (limit !== undefined && limit > text.length) throw new NoMatch();
  const stop = limit ?? text.length;
  // Fast path for a few ASCII digits.
  let value = 0;
  let end = at;
  for (; end < stop && end - at <= 9; end++) {
    const digit = text.charCodeAt(end) - 0x30;
    if (!(digit >= 0 && digit <= 9)) break;
    value = value * 10 + digit;
  }
  if (end > at && end - at < 10 && (end === stop || isPlain(text.charCodeAt(end)))) return { value, end };
  INTEGER.lastIndex = at;
  const found = INTEGER.exec(limit === undefined ? text : text.slice(0, limit));
  if (found === null) throw new NoMatch();
  return { value: intOf(found[0]), end: at + found[0].length };
}

/** Whether a character ends a number: it is neither the exponent letter nor a possible digit of another script. */
function isPlain(code: number): boolean {
  return code < 0x80 && code !== 0x45;
}

function intOf(digits: string): number {
  const [mantissa = '0', exponent] = digits.split('E');
  const whole = parseInteger(mantissa) ?? 0n;
  const power = exponent === undefined ? 0 : Number(parseInteger(exponent) ?? 0n);
  const scaled = power === 0 ? whole : scaledBy(whole, power);
  if (BigInt.asIntN(64, scaled) === scaled) return Number(BigInt.asIntN(32, scaled));
  return scaled > 0n ? 2 ** 31 - 1 : -(2 ** 31);
}

function scaledBy(value: bigint, power: number): bigint {
  if (power < 0) return power < -30 ? 0n : value / 10n ** BigInt(-power);
  return value * 10n ** BigInt(Math.min(power, 30));
}

/** Matches the longest name, ignoring case; leading blanks are not skipped. */
function nameAt(text: string, start: number, field: CalendarField, names: NameValues, fields: CalendarFields): number {
  const rest = text.slice(start, start + 16).toLowerCase();
  let best = '';
  for (const name of names.keys()) if (name.length > best.length && rest.startsWith(name)) best = name;
  if (best === '') throw new NoMatch();
  fields.set(field, names.get(best) ?? 0);
  return start + best.length;
}

function signAt(text: string, at: number): -1 | 0 | 1 {
  const char = text.charAt(at);
  if (char === '+') return 1;
  return char === '-' ? -1 : 0;
}

function isoZone(text: string, at: number, count: number, fields: CalendarFields): number {
  if (text.charAt(at) === 'Z') {
    fields.set('zoneOffset', 0).set('dstOffset', 0);
    return at + 1;
  }
  const sign = signAt(text, at);
  if (sign === 0) throw new NoMatch();
  return orFail(numericZone(text, at + 1, sign, { colon: count === 3, count }, fields));
}

function orFail(end: number | undefined): number {
  if (end === undefined) throw new NoMatch();
  return end;
}
