import { dayOfWeek, fieldsOf, type DayFields } from './calendar-days.ts';
import { MS_PER_DAY } from './calendar-fields.ts';
import { DAYS, ERAS, HALVES, MONTHS } from './date-names.ts';
import { DateTextParser } from './date-text-parser.ts';
import { datePattern, type PatternPart } from './date-pattern.ts';
import { ZONE_NAMES } from './zone-names.ts';
import { offsetAt, type ZoneOffset } from './zone-offsets.ts';

type LetterPart = Extract<PatternPart, { letter: unknown }>;

/** Fields of a point in time. */
interface Moment {
  readonly day: DayFields;
  readonly weekday: number;
  readonly msOfDay: number;
  readonly offset: ZoneOffset;
}

/** Text that is the same for a whole second. Milliseconds of at least `digits` digits follow, or nothing if `digits` is 0. */
interface SecondText {
  readonly before: string;
  readonly digits: number;
}

const NO_TEXT: SecondText = { before: '', digits: 0 };

/**
 * java.text.SimpleDateFormat for English, initially in UTC. As in Java, a parsed zone name (`z` or `Z`) also applies to later
 * calls: to formatting, and to parsed times without a zone. Invalid patterns throw a DatePatternError.
 */
export class SimpleDateFormat {
  readonly pattern: string;
  readonly #parts: readonly PatternPart[];
  readonly #parser: DateTextParser;
  /** Cache: fields of the last formatted day. Consecutive times mostly share a day. */
  #day: { readonly number: number; readonly fields: DayFields } = { number: 0, fields: fieldsOf(0) };
  /** Cache: text of the last formatted second, without milliseconds. Consecutive times mostly share a second. */
  #second: { readonly number: number; readonly zone: string; readonly texts: readonly SecondText[] } | undefined;

  constructor(pattern: string) {
    this.pattern = pattern;
    this.#parts = datePattern(pattern);
    this.#parser = new DateTextParser(this.#parts);
  }

  /** True if parsing may change the zone of later calls. */
  get keepsZone(): boolean {
    return this.#parts.some((part) => !('text' in part) && (part.letter === 'z' || part.letter === 'Z'));
  }

  /** `ms`: milliseconds since 1970. */
  format(ms: number | bigint): string {
    const { zone } = this.#parser;
    const near = Number(ms);
    if (Number.isSafeInteger(near)) return this.#formatInSecond(near, zone);
    const moment = this.#moment(ms);
    return this.#parts.map((part) => ('text' in part ? part.text : fieldText(part, moment, zone))).join('');
  }

  #formatInSecond(ms: number, zone: string): string {
    const number = Math.floor(ms / 1000);
    if (this.#second?.number !== number || this.#second.zone !== zone) {
      this.#second = { number, zone, texts: this.#textsOf(this.#moment(ms), zone) };
    }
    const { texts } = this.#second;
    // Concatenates from the end, so that the long text before the milliseconds is copied only once.
    let text = '';
    for (let i = texts.length - 1; i >= 0; i--) {
      const { before, digits } = texts[i] ?? NO_TEXT;
      text = before + (digits === 0 ? text : padded(ms - number * 1000, digits) + text);
    }
    return text;
  }

  #textsOf(moment: Moment, zone: string): readonly SecondText[] {
    const texts: SecondText[] = [];
    let before = '';
    for (const part of this.#parts) {
      if ('text' in part) before += part.text;
      else if (part.letter !== 'S') before += fieldText(part, moment, zone);
      else {
        texts.push({ before, digits: part.count });
        before = '';
      }
    }
    return [...texts, { before, digits: 0 }];
  }

  #moment(ms: number | bigint): Moment {
    const offset = offsetAt(this.#parser.zone, Number(ms));
    const [day, msOfDay] = split(typeof ms === 'bigint' ? ms + BigInt(offset.total) : ms + offset.total);
    if (day !== this.#day.number) this.#day = { number: day, fields: fieldsOf(day) };
    return { day: this.#day.fields, weekday: dayOfWeek(day), msOfDay, offset };
  }

  /** Milliseconds since 1970 as a signed 64-bit number; `undefined` if the text does not match. Trailing text is ignored. */
  parse(text: string): bigint | undefined {
    return this.#parser.parse(text);
  }
}

/** Splits a time into days since 1970 and milliseconds of the day. */
function split(ms: number | bigint): [number, number] {
  if (typeof ms === 'bigint' && !Number.isSafeInteger(Number(ms))) {
    const inDay = ((ms % 86_400_000n) + 86_400_000n) % 86_400_000n;
    return [Number((ms - inDay) / 86_400_000n), Number(inDay)];
  }
  const day = Math.floor(Number(ms) / MS_PER_DAY);
  return [day, Number(ms) - day * MS_PER_DAY];
}

function fieldText({ letter, count }: LetterPart, moment: Moment, zone: string): string {
  const { day, weekday, msOfDay } = moment;
  const hour = Math.floor(msOfDay / 3_600_000);
  switch (letter) {
    case 'G':
      return ERAS[day.year > 0 ? 1 : 0];
    case 'y':
      return yearText(day.year > 0 ? day.year : 1 - day.year, count);
    case 'Y':
      return yearText(day.weekYear, count);
    case 'M':
    case 'L':
      if (count < 3) return padded(day.month + 1, count);
      return MONTHS[count > 3 ? 'long' : 'short'][day.month] ?? '';
    case 'd':
      return padded(day.dayOfMonth, count);
    case 'D':
      return padded(day.dayOfYear, count);
    case 'F':
      return padded(day.dayOfWeekInMonth, count);
    case 'w':
      return padded(day.weekOfYear, count);
    case 'W':
      return padded(day.weekOfMonth, count);
    case 'E':
      return DAYS[count > 3 ? 'long' : 'short'][weekday - 1] ?? '';
    case 'u':
      return padded(weekday === 1 ? 7 : weekday - 1, count);
    case 'a':
      return HALVES[hour < 12 ? 0 : 1];
    case 'H':
      return padded(hour, count);
    case 'k':
      return padded(hour === 0 ? 24 : hour, count);
    case 'K':
      return padded(hour % 12, count);
    case 'h':
      return padded(hour % 12 === 0 ? 12 : hour % 12, count);
    case 'm':
      return padded(Math.floor(msOfDay / 60_000) % 60, count);
    case 's':
      return padded(Math.floor(msOfDay / 1000) % 60, count);
    case 'S':
      return padded(msOfDay % 1000, count);
    default:
      return zoneText(letter, count, moment.offset, zone);
  }
}

function padded(value: number, digits: number): string {
  if (digits <= 3 && value >= 100) return String(value);
  if (digits === 2 && value >= 0 && value < 10) return `0${String(value)}`;
  return value < 0 ? `-${padded(-value, digits)}` : String(value).padStart(digits, '0');
}

/** With two pattern letters, only the last two digits of the year are printed. */
function yearText(year: number, count: number): string {
  if (count !== 2) return padded(year, count);
  return `${year < 0 ? '-' : ''}${padded(Math.abs(year) % 100, 2)}`;
}

function zoneText(letter: 'z' | 'Z' | 'X', count: number, { total, summer }: ZoneOffset, zone: string): string {
  if (letter === 'z') {
    const names = ZONE_NAMES.find((each) => each.zone === zone)?.names;
    return names?.[(summer === 0 ? 0 : 2) + (count < 4 ? 1 : 0)] ?? zone;
  }
  if (letter === 'X' && total === 0) return 'Z';
  const minutes = Math.trunc(Math.abs(total) / 60_000);
  const sign = total < 0 && minutes > 0 ? '-' : '+';
  const hh = padded(Math.floor(minutes / 60), 2);
  const mm = padded(minutes % 60, 2);
  if (letter === 'X' && count === 1) return sign + hh;
  return `${sign}${hh}${letter === 'X' && count === 3 ? ':' : ''}${mm}`;
}
