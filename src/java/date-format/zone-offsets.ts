import { dayOf } from './calendar-days.ts';

const MS_PER_HOUR = 3_600_000;
const MS_PER_DAY = 86_400_000;
/** 1900-01-01 in milliseconds since 1970. For earlier times, Java uses today's standard offset. */
const FIRST_RULES_MS = -2_208_988_800_000;
/** Times are limited to ±LAST_MS, two days within the limit of Intl (8.64e15). */
const LAST_MS = 8.64e15 - 2 * MS_PER_DAY;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Offset from UTC in milliseconds. */
export interface ZoneOffset {
  readonly total: number;
  /** The part that daylight saving adds. */
  readonly summer: number;
}

const NO_OFFSET: ZoneOffset = { total: 0, summer: 0 };

/** The offset of a zone at a point in time. */
export function offsetAt(zone: string, utcMs: number): ZoneOffset {
  if (zone === 'UTC') return NO_OFFSET;
  if (utcMs < FIRST_RULES_MS) return { total: standardIn(zone, Date.now()), summer: 0 };
  const total = totalAt(zone, utcMs);
  return { total, summer: total - standardIn(zone, utcMs) };
}

/** The offset of a zone at a local time; the standard offset if the local time is ambiguous or skipped. */
export function offsetAtWall(zone: string, wallMs: number): ZoneOffset {
  if (zone === 'UTC') return NO_OFFSET;
  if (wallMs < FIRST_RULES_MS) return offsetAt(zone, wallMs);
  const around = [totalAt(zone, wallMs - MS_PER_DAY), totalAt(zone, wallMs + MS_PER_DAY)];
  const fitting = around.filter((total) => totalAt(zone, wallMs - total) === total);
  const total = Math.min(...(fitting.length === 0 ? around : fitting));
  return { total, summer: total - standardIn(zone, wallMs - total) };
}

/** The standard offset in the year of a time, which is the smaller of the offsets in January and July. */
function standardIn(zone: string, utcMs: number): number {
  const year = new Date(within(utcMs)).getUTCFullYear();
  const january = dayOf('gregorian', year, 0, 1) * MS_PER_DAY;
  return Math.min(totalAt(zone, january), totalAt(zone, january + 182 * MS_PER_DAY));
}

function within(ms: number): number {
  return Math.max(-LAST_MS, Math.min(LAST_MS, ms));
}

function totalAt(zone: string, utcMs: number): number {
  const at = within(utcMs);
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
    formats.set(zone, format);
  }
  const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = /([+-])(\d+):(\d+)(?::(\d+))?/.exec(name) ?? [];
  const offset = Number(hours) * MS_PER_HOUR + Number(minutes) * 60_000 + Number(seconds) * 1000;
  return sign === '-' ? -offset : offset;
}
