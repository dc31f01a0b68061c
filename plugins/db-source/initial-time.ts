import { ConfigError } from '../../src/index.ts';

const SHAPE = /^(\d{4})-(\d{2})-(\d{2})[ T](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?\s*(Z|UTC|[+-]\d{2}(?::?\d{2})?)?$/i;

/**
 * `timestamp.initial` as microseconds since the epoch: `yyyy-MM-dd HH:mm:ss`, UTC unless a zone offset follows. A ConfigError
 * says what is wrong; one that lies in the future is refused.
 */
export function parseInitialTime(text: string, nowMs: number): number {
  const match = SHAPE.exec(text.trim());
  if (match === null) {
    throw new ConfigError(
      `Invalid value ${text} for configuration timestamp.initial: it must be yyyy-MM-dd HH:mm:ss, in UTC or followed by an offset such as +02:00`,
    );
  }
  const [, year, month, day, hour, minute, second, fraction = '', zone] = match;
  const ms = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  const date = new Date(ms);
  const isReal = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day) && Number(hour) < 24;
  if (!isReal || Number(minute) > 59 || Number(second) > 59) {
    throw new ConfigError(`Invalid value ${text} for configuration timestamp.initial: there is no such time`);
  }
  const micros = (ms - offsetMs(zone)) * 1000 + Number(fraction.padEnd(6, '0'));
  if (micros > nowMs * 1000) {
    throw new ConfigError(
      `Invalid value ${text} for configuration timestamp.initial: timestamp initial value must be before now; it is read as ${new Date(micros / 1000).toISOString()}`,
    );
  }
  return micros;
}

function offsetMs(zone: string | undefined): number {
  const match = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone ?? '');
  if (match === null) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? '0');
  return (match[1] === '-' ? -minutes : minutes) * 60_000;
}
