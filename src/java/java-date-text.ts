import { latinDigits } from './java-number-text.ts';
import { MS_PER_DAY } from '../data/logical-values.ts';

/**
 * Dates, times and timestamps in Connect's text forms (org.apache.kafka.connect.data.Values), always in UTC: `2020-01-02`,
 * `03:04:05.006Z`, `2020-01-02T03:04:05.006Z`.
 */

const LENGTHS = { date: 10, time: 13, timestamp: 24 } as const;
export type TemporalKind = keyof typeof LENGTHS;

/**
 * The shortest form by Connect's rule. Up to the end of 1970-01-01 it is only the time, so such timestamps lose their date. After
 * that it is only the date if the time is midnight, otherwise both.
 */
export function temporalText(date: Date): string {
  const milliseconds = date.getTime();
  const iso = isoText(date);
  const split = iso.indexOf('T');
  if (milliseconds < MS_PER_DAY) return iso.slice(split + 1);
  return milliseconds % MS_PER_DAY === 0 ? iso.slice(0, split) : iso;
}

/** `toISOString` without the sign and zeros that it adds to years after 9999. */
function isoText(date: Date): string {
  return date.toISOString().replace(/^\+0*/, '');
}

/**
 * Parses a text with the length of one of the forms; `undefined` if it has another form. Fields that are out of range, such as
 * month 13, roll over as in Java's lenient parser.
 */
export function parseTemporal(text: string): { kind: TemporalKind; date: Date } | undefined {
  switch (text.length) {
    case LENGTHS.date:
      return temporal('date', DATE.exec(latinDigits(text)));
    case LENGTHS.time:
      return temporal('time', TIME.exec(latinDigits(text)));
    case LENGTHS.timestamp:
      return temporal('timestamp', TIMESTAMP.exec(latinDigits(text)));
  }
  return undefined;
}

function temporal(kind: TemporalKind, match: RegExpExecArray | null): { kind: TemporalKind; date: Date } | undefined {
  if (match === null) return undefined;
  const fields = match.slice(1).map(Number);
  const [year = 1970, month = 1, day = 1] = kind === 'time' ? [] : fields.splice(0, 3);
  const [hour = 0, minute = 0, second = 0, millisecond = 0] = fields;
  const timeMs = ((hour * 60 + minute) * 60 + second) * 1000 + millisecond;
  return { kind, date: new Date(dayNumber(year, month, day) * MS_PER_DAY + timeMs) };
}

// As in Java's parser, each field may follow blanks and be negative, and trailing text is ignored.
const NUMBER = '[ \\t]*(-?\\d+)';
const DAY = `${NUMBER}-${NUMBER}-${NUMBER}`;
const CLOCK = `${NUMBER}:${NUMBER}:${NUMBER}\\.${NUMBER}Z`;
const DATE = new RegExp(`^${DAY}`);
const TIME = new RegExp(`^${CLOCK}`);
const TIMESTAMP = new RegExp(`^${DAY}T${CLOCK}`);

/** 1582-10-15: Gregorian calendar from here on, Julian before. */
const CUTOVER_DAY = -141_427;
const EPOCH_JULIAN_DAY = 2_440_588;

/** Days since 1970-01-01; months and days out of range roll over. */
function dayNumber(year: number, month: number, day: number): number {
  const months = year * 12 + month - 1;
  const wholeYear = Math.floor(months / 12);
  const wholeMonth = months - wholeYear * 12 + 1;
  // Years start in March, so that the leap day is the last day.
  const shifted = wholeMonth <= 2 ? 1 : 0;
  const years = wholeYear + 4800 - shifted;
  const inYear = Math.floor((153 * (wholeMonth + 12 * shifted - 3) + 2) / 5);
  const julianLeaps = Math.floor(years / 4);
  const gregorianLeaps = julianLeaps - Math.floor(years / 100) + Math.floor(years / 400);
  const gregorian = day + inYear + 365 * years + gregorianLeaps - 32_045 - EPOCH_JULIAN_DAY;
  return gregorian >= CUTOVER_DAY ? gregorian : day + inYear + 365 * years + julianLeaps - 32_083 - EPOCH_JULIAN_DAY;
}
