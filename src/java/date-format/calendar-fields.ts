import {
  CUTOVER_DAY,
  CUTOVER_YEAR,
  dateOf,
  dayOf,
  firstWeekStart,
  onOrBefore,
  type CalendarSystem,
} from './calendar-days.ts';

/** Fields of java.util.Calendar. */
export type CalendarField =
  | 'era'
  | 'year'
  | 'weekYear'
  | 'month'
  | 'dayOfMonth'
  | 'dayOfYear'
  | 'dayOfWeek'
  | 'dayOfWeekInMonth'
  | 'weekOfYear'
  | 'weekOfMonth'
  | 'amPm'
  | 'hour'
  | 'hourOfDay'
  | 'minute'
  | 'second'
  | 'millisecond'
  | 'zoneOffset'
  | 'dstOffset';

export const MS_PER_DAY = 86_400_000;
const SUNDAY = 1;
const EPOCH_YEAR = 1970;

/** The fields that determine the day. */
type DayRule = 'dayOfMonth' | 'weekOfMonth' | 'dayOfWeekInMonth' | 'dayOfYear' | 'weekOfYear';

/**
 * Parsed fields in order of occurrence. Later fields override contradicting earlier ones, and values out of range roll over
 * (java.util.Calendar#selectFields, GregorianCalendar#computeTime, lenient).
 */
export class CalendarFields {
  readonly #values = new Map<CalendarField, number>();
  /** Order in which the fields were set, from 1. */
  readonly #stamps = new Map<CalendarField, number>();
  #nextStamp = 1;

  set(field: CalendarField, value: number): this {
    this.#values.set(field, value | 0);
    this.#stamps.set(field, this.#nextStamp++);
    return this;
  }

  clear(field: CalendarField): this {
    this.#values.delete(field);
    this.#stamps.delete(field);
    return this;
  }

  has(field: CalendarField): boolean {
    return this.#stamps.has(field);
  }

  get(field: CalendarField): number {
    return this.#values.get(field) ?? 0;
  }

  addYears(years: number): void {
    for (const field of ['year', 'weekYear'] as const) {
      if (this.has(field)) this.#values.set(field, this.get(field) + years);
    }
  }

  /** Days since 1970 and milliseconds of the day, in local time. */
  wallTime(): { day: number; msOfDay: number } {
    const total =
      ((this.#hours() * 60 + this.get('minute')) * 60 + this.get('second')) * 1000 + this.get('millisecond');
    const days = Math.floor(total / MS_PER_DAY);
    const weekDate = this.has('weekYear') && this.#stamp('weekYear') > this.#stamp('year');
    const day = weekDate ? this.#weekDate() : this.#day(this.#isoYear(this.#givenYear()), this.#dayRule(), days);
    return { day: weekDate ? day + days : day, msOfDay: total - days * MS_PER_DAY };
  }

  #stamp(field: CalendarField): number {
    return this.#stamps.get(field) ?? 0;
  }

  /** The stamp of the field that was set later; 0 unless both fields are set. */
  #both(a: CalendarField, b: CalendarField): number {
    return this.has(a) && this.has(b) ? Math.max(this.#stamp(a), this.#stamp(b)) : 0;
  }

  #hours(): number {
    const inHalf = this.#both('hour', 'amPm');
    const ofDay = this.#stamp('hourOfDay');
    const best = Math.max(inHalf, ofDay) || Math.max(this.#stamp('hour'), this.#stamp('amPm'));
    if (best === ofDay) return this.get('hourOfDay');
    return this.get('hour') + 12 * this.get('amPm');
  }

  #givenYear(): number {
    return this.has('year') ? this.get('year') : EPOCH_YEAR;
  }

  #isoYear(year: number): number {
    return this.has('era') && this.get('era') === 0 ? 1 - year : year;
  }

  /** Adds weeks and days to the first week of the week year; days of the week out of range move the week. */
  #weekDate(): number {
    let week = this.has('weekOfYear') ? this.get('weekOfYear') : 1;
    let weekday = this.has('dayOfWeek') ? this.get('dayOfWeek') : SUNDAY;
    if (weekday > 7) {
      week += Math.floor((weekday - 1) / 7);
      weekday = isoToCalendar(((weekday - 1) % 7) + 1);
    } else if (weekday < 1) {
      const weeks = Math.ceil((1 - weekday) / 7);
      week -= weeks;
      weekday = isoToCalendar(weekday + 7 * weeks);
    }
    // A week year has no era of its own: it is BC if the date that the other fields describe is BC.
    const isBc = dateOf(this.#day(this.#isoYear(this.#givenYear()), this.#dayRule(), 0)).year <= 0;
    const year = isBc ? 1 - this.get('weekYear') : this.get('weekYear');
    return this.#day(year, 'firstWeek', 0) + (weekday - SUNDAY) + Math.imul(7, week - 1);
  }

  #dayRule(): DayRule {
    const weekday = this.#stamp('dayOfWeek');
    const month = this.#stamp('month');
    let dayOfMonth = this.#stamp('dayOfMonth');
    let weekOfMonth = this.#both('weekOfMonth', 'dayOfWeek');
    let inMonth = this.#both('dayOfWeekInMonth', 'dayOfWeek');
    const dayOfYear = this.#stamp('dayOfYear');
    let weekOfYear = this.#both('weekOfYear', 'dayOfWeek');
    let best = Math.max(dayOfMonth, weekOfMonth, inMonth, dayOfYear, weekOfYear);
    if (best === 0) {
      weekOfMonth = this.#stamp('weekOfMonth');
      inMonth = Math.max(this.#stamp('dayOfWeekInMonth'), weekday);
      weekOfYear = this.#stamp('weekOfYear');
      best = Math.max(weekOfMonth, inMonth, weekOfYear);
      if (best === 0) best = dayOfMonth = month;
    }
    if (best === dayOfMonth) return 'dayOfMonth';
    const yearly = this.#stamp('weekOfYear');
    const byWeekOfMonth = best === weekOfMonth && this.#stamp('weekOfMonth') >= yearly;
    const byInMonth = best === inMonth && this.#stamp('dayOfWeekInMonth') >= yearly;
    if (byWeekOfMonth || byInMonth) {
      if (weekOfMonth !== inMonth) return best === weekOfMonth ? 'weekOfMonth' : 'dayOfWeekInMonth';
      return this.#stamp('weekOfMonth') >= this.#stamp('dayOfWeekInMonth') ? 'weekOfMonth' : 'dayOfWeekInMonth';
    }
    return best === dayOfYear ? 'dayOfYear' : 'weekOfYear';
  }

  /**
   * The day that `rule` determines, plus `extraDays`, in the calendar that applies on that day. Dates that were skipped in the
   * cutover of 1582 are Julian.
   */
  #day(year: number, rule: DayRule | 'firstWeek', extraDays: number): number {
    const gregorian = extraDays + this.#dayIn('gregorian', year, rule);
    if (year > CUTOVER_YEAR && gregorian >= CUTOVER_DAY) return gregorian;
    const julian = extraDays + this.#dayIn('julian', year, rule);
    if (year < CUTOVER_YEAR) return julian;
    if (rule === 'dayOfYear' || rule === 'weekOfYear' || rule === 'firstWeek') return julian;
    return gregorian >= CUTOVER_DAY ? gregorian : julian;
  }

  #dayIn(system: CalendarSystem, year: number, rule: DayRule | 'firstWeek'): number {
    const monthly = rule === 'dayOfMonth' || rule === 'weekOfMonth' || rule === 'dayOfWeekInMonth';
    const month = monthly ? this.get('month') : 0;
    const first = dayOf(system, year, month, 1);
    switch (rule) {
      case 'dayOfMonth':
        return this.has('dayOfMonth') ? first + this.get('dayOfMonth') - 1 : first;
      case 'weekOfMonth':
        return this.#weekdayFrom(firstWeekStart(first)) + Math.imul(7, this.get('weekOfMonth') - 1);
      case 'dayOfWeekInMonth':
        return this.#weekdayInMonth(first, dayOf(system, year, month + 1, 1) - first);
      case 'dayOfYear':
        return first + this.get('dayOfYear') - 1;
      case 'weekOfYear':
        return this.#weekdayFrom(firstWeekStart(first)) + 7 * (this.get('weekOfYear') - 1);
      case 'firstWeek':
        return firstWeekStart(first);
    }
  }

  #weekdayFrom(weekStart: number): number {
    return this.has('dayOfWeek') ? onOrBefore(weekStart + 6, this.get('dayOfWeek')) : weekStart;
  }

  #weekdayInMonth(first: number, monthLength: number): number {
    const weekday = this.has('dayOfWeek') ? this.get('dayOfWeek') : SUNDAY;
    const nth = this.has('dayOfWeekInMonth') ? this.get('dayOfWeekInMonth') : 1;
    if (nth >= 0) return onOrBefore(first + Math.imul(7, nth) - 1, weekday);
    return onOrBefore(first + monthLength + Math.imul(7, nth + 1) - 1, weekday);
  }
}

/** Converts 1 (Monday) to 7 (Sunday) into a calendar's day of the week; values out of range stay unchanged. */
export function isoToCalendar(iso: number): number {
  if (iso < 1 || iso > 7) return iso;
  return iso === 7 ? SUNDAY : iso + 1;
}
