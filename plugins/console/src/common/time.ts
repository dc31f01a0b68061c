import { signal } from '@preact/signals';

/** The zone in which the console shows times. */
export type Zone = 'local' | 'utc';

/** Chosen by the user; `frame/chosen-zone.ts` stores it. */
export const zone = signal<Zone>('local');

/** The chosen zone: `UTC`, or the offset of the browser's zone at the time `at`, such as `UTC+2`. */
export function zoneText(at = new Date()): string {
  const minutes = zone.value === 'utc' ? 0 : -at.getTimezoneOffset();
  if (minutes === 0) return 'UTC';
  const hours = Math.floor(Math.abs(minutes) / 60);
  const rest = Math.abs(minutes) % 60;
  return `UTC${minutes < 0 ? '-' : '+'}${String(hours)}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
}

type Moment = Date | number | string;

/** `2026-11-24 16:18:59`, the style in which the console shows a date with its time. */
export function dateTime(at: Moment): string {
  return isoText(at).slice(0, 19).replace('T', ' ');
}

/** `16:18:59` for a time of today; otherwise the date and the time. */
export function shortTime(at: Moment, now: Moment = Date.now()): string {
  const text = dateTime(at);
  return text.slice(0, 10) === dateTime(now).slice(0, 10) ? clockTime(at) : text;
}

/** `16:18:59` */
export function clockTime(at: Moment): string {
  return isoText(at).slice(11, 19);
}

/** `16:18:59.042` */
export function exactClock(at: Moment): string {
  return isoText(at).slice(11, 23);
}

/** `2026-11-24 16:18:59.042`; timestamps of records have milliseconds. */
export function exactDateTime(at: Moment): string {
  return isoText(at).slice(0, 23).replace('T', ' ');
}

/** The time in the chosen zone in the form of ISO 8601. The `Z` at its end has no meaning. */
function isoText(at: Moment): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '–';
  const offset = zone.value === 'utc' ? 0 : date.getTimezoneOffset();
  return new Date(date.getTime() - offset * 60_000).toISOString();
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const;

/** `42 min`, `3 h`, `2 d`: the largest unit that is at least one. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const unit = UNITS.find(([, length]) => seconds >= length);
  return unit === undefined ? `${String(seconds)} s` : `${String(Math.floor(seconds / unit[1]))} ${unit[0]}`;
}
