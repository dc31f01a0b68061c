import type { CalendarFields } from './calendar-fields.ts';
import { ZONE_NAMES, type ZoneNames } from './zone-names.ts';

/**
 * Parses `hhmm`, `hh:mm` or `hh` after a sign into `fields`. Returns the end, or `undefined` if there is no match. `count` is the
 * number of letters `X` in the pattern, where one letter means hours only; it is 0 for the letters `z` and `Z`.
 */
export function numericZone(
  text: string,
  at: number,
  sign: -1 | 1,
  { colon, count }: { readonly colon: boolean; readonly count: number },
  fields: CalendarFields,
): number | undefined {
  const hours = count > 0 || !colon ? '[0-9]{2}' : '[0-9]{1,2}';
  const minutes = count === 1 ? '' : `${colon ? ':' : ''}([0-9]{2})`;
  const found = new RegExp(`^(${hours})${minutes}`).exec(text.slice(at, at + 5));
  if (found === null) return undefined;
  const [all, hh = '0', mm = '0'] = found;
  if (Number(hh) > 23 || Number(mm) > 59) return undefined;
  fields.set('zoneOffset', sign * (Number(hh) * 60 + Number(mm)) * 60_000).set('dstOffset', 0);
  return at + all.length;
}

export interface ZoneMatch {
  readonly zone: string;
  readonly end: number;
  /** Daylight saving in milliseconds that the name implies; `undefined` if the zone's rules apply. */
  readonly summerMs: number | undefined;
}

/** Finds the first zone with a name at position `at`, ignoring case. The current zone takes precedence, then UTC. */
export function matchZoneName(text: string, at: number, currentZone: string): ZoneMatch | undefined {
  const rest = text.slice(at, at + 64).toLowerCase();
  const current = ZONE_NAMES.find(({ zone }) => zone === currentZone);
  const utc = ZONE_NAMES.find(({ zone }) => zone === 'UTC');
  for (const candidate of [current, utc, ...ZONE_NAMES]) {
    if (candidate === undefined) continue;
    const index = candidate.names.findIndex((name) => name !== '' && rest.startsWith(name.toLowerCase()));
    if (index >= 0) return matchOf(candidate, index, at);
  }
  return undefined;
}

function matchOf({ zone, names, summerMs }: ZoneNames, index: number, at: number): ZoneMatch {
  const name = names[index] ?? '';
  const isSummer = index >= 2;
  const sameBoth = !isSummer && name.toLowerCase() === names[index + 2]?.toLowerCase();
  const decidedByRules = sameBoth || (isSummer && summerMs === 0);
  return { zone, end: at + name.length, summerMs: decidedByRules ? undefined : isSummer ? summerMs : 0 };
}
