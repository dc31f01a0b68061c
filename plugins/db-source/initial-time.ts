import { ConfigError } from '../../src/index.ts';

const SHAPE = /^(\d{4})-(\d{2})-(\d{2})[ T](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?\s*(\S+)?$/;
const OFFSET = /^([+-])(\d{2}):?(\d{2})?$/;

/**
 * Parses `timestamp.initial` to microseconds since the epoch: `yyyy-MM-dd HH:mm:ss`, in UTC or followed by a time zone
 * as an offset or name. Throws a ConfigError for an invalid or future time.
 */
export function parseInitialTime(text: string, nowMs: number): number {
  const match = SHAPE.exec(text.trim());
  if (match === null) {
    throw invalid(text, 'it must be yyyy-MM-dd HH:mm:ss, in UTC or followed by a zone such as +02:00 or Europe/Oslo');
  }
  const [, year, month, day, hour, minute, second, fraction = '', zone] = match;
  const localMs = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  const date = new Date(localMs);
  const isReal = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day) && Number(hour) < 24;
  if (!isReal || Number(minute) > 59 || Number(second) > 59) throw invalid(text, 'it is not a valid time');
  const offset = zone === undefined ? 0 : offsetMs(zone, localMs);
  if (offset === undefined) throw invalid(text, `unknown time zone ${String(zone)}`);
  const micros = (localMs - offset) * 1000 + Number(fraction.padEnd(6, '0'));
  if (micros > nowMs * 1000) {
    throw invalid(
      text,
      `timestamp initial value must be before now; it is read as ${new Date(micros / 1000).toISOString()}`,
    );
  }
  return micros;
}

function invalid(text: string, reason: string): ConfigError {
  return new ConfigError(`Invalid value ${text} for configuration timestamp.initial: ${reason}`);
}

/** Offset of a time zone from UTC at a local time; `undefined` for an unknown zone. */
function offsetMs(zone: string, localMs: number): number | undefined {
  if (/^(?:z|utc)$/i.test(zone)) return 0;
  const match = OFFSET.exec(zone);
  if (match === null) return namedOffsetMs(zone, localMs);
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? '0');
  return (match[1] === '-' ? -minutes : minutes) * 60_000;
}

/**
 * If a local time is ambiguous, the earlier time is meant. A local time that does not exist, because clocks were set
 * forward, is read with the offset before the change, as in PostgreSQL: 02:30 is one hour after 01:30.
 */
function namedOffsetMs(zone: string, localMs: number): number | undefined {
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset', year: 'numeric' });
    const at = (ms: number): number => {
      const name = format.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? '';
      return offsetMs(name.replace(/^GMT/, '') || 'Z', ms) ?? 0;
    };
    const before = at(localMs - 86_400_000);
    const offset = at(localMs - before);
    return at(localMs - offset) === offset ? offset : before;
  } catch {
    return undefined;
  }
}
