import { TEXT, type QueryParameter } from '../../../src/index.ts';
import type { Cell, Precision, RowBatch } from '../../database/index.ts';
import { ApiFailure } from '../route.ts';

/** The query parameter `precision`. */
export const PRECISION: QueryParameter = { description: 'The unit of the times', schema: TEXT };

/** Rules for reading times of lines: the precision of the decoder, and the adjustment of the decoded times. */
export interface LineTimes {
  readonly decoder: Precision;
  /** Factor for the current time that the decoder receives, so that the adjustment also applies to lines without a time. */
  readonly nowFactor: number;
  readonly adjust: ((micros: number | bigint) => number | bigint) | undefined;
  /** Returns the nanoseconds (0 to 999) beyond the adjusted microseconds. If absent, those of the decoder are correct. */
  readonly nanosOf?: (number: number | bigint) => number;
}

const asDecoded = (decoder: Precision): LineTimes => ({ decoder, nowFactor: 1, adjust: undefined });

/** Units that the decoder does not know: times are decoded as seconds and multiplied by `count`. */
const seconds = (count: number): LineTimes => ({
  decoder: 's',
  nowFactor: 1 / count,
  adjust: (micros) => narrow(BigInt(micros) * BigInt(count)),
});

/** Units of InfluxDB 1, 2 and 3 and of QuestDB (docs/formats.md#lines-of-one-series-and-time). */
const LINE_TIMES: ReadonlyMap<string, LineTimes> = new Map([
  ...['n', 'ns', 'nanosecond', 'nanoseconds'].map((name) => [name, asDecoded('ns')] as const),
  ...['u', 'us', 'µ', 'µs', 'microsecond', 'microseconds'].map((name) => [name, asDecoded('us')] as const),
  ...['ms', 'millisecond', 'milliseconds'].map((name) => [name, asDecoded('ms')] as const),
  ...['s', 'second', 'seconds'].map((name) => [name, asDecoded('s')] as const),
  ...['m', 'minute', 'minutes'].map((name) => [name, seconds(60)] as const),
  ...['h', 'hour', 'hours'].map((name) => [name, seconds(3600)] as const),
  // The decoder does not change the number if it reads it as microseconds.
  ['auto', { decoder: 'us', nowFactor: 1, adjust: bySize, nanosOf: nanosBySize }],
]);

/** The rules for a value of `precision`. Throws an ApiFailure with status 400 if the value is invalid. */
export function lineTimes(precision: string): LineTimes {
  const times = LINE_TIMES.get(precision);
  if (times !== undefined) return times;
  throw new ApiFailure(
    400,
    `invalid precision "${precision.slice(0, 32)}": use n, ns, u, us, ms, s, m, h or auto (without it: nanoseconds)`,
  );
}

const INFLUX_1_UNITS: ReadonlySet<string> = new Set(['n', 'u', 'ms', 's', 'm', 'h']);

/**
 * Reads `precision` like `/write` of InfluxDB 1: n, u, ms, s, m or h; any other value, including `us`, means
 * nanoseconds (measured with InfluxDB 1.6).
 */
export function influx1Times(precision: string): LineTimes {
  return lineTimes(INFLUX_1_UNITS.has(precision) ? precision : 'ns');
}

const SECONDS_BELOW = 5e9;
const MILLISECONDS_BELOW = 5e12;
const MICROSECONDS_BELOW = 5e15;

/** Detects the unit by InfluxDB 3's bounds: seconds below 5e9, milliseconds below 5e12, microseconds below 5e15, else nanoseconds. */
function bySize(value: number | bigint): number | bigint {
  const size = Math.abs(Number(value));
  if (size < SECONDS_BELOW) return narrow(BigInt(value) * 1_000_000n);
  if (size < MILLISECONDS_BELOW) return narrow(BigInt(value) * 1_000n);
  if (size < MICROSECONDS_BELOW) return value;
  const nanos = BigInt(value);
  return narrow((nanos - (((nanos % 1000n) + 1000n) % 1000n)) / 1000n);
}

/** The nanoseconds (0 to 999) of a time whose unit is detected by its size. */
function nanosBySize(value: number | bigint): number {
  return Math.abs(Number(value)) < MICROSECONDS_BELOW ? 0 : Number(((BigInt(value) % 1000n) + 1000n) % 1000n);
}

/** Adjusts the times of a batch in place. */
export function adjustTimes(batch: RowBatch, { adjust, nanosOf }: LineTimes): void {
  if (adjust === undefined) return;
  const cells: Cell[] = batch.columns.find(({ role }) => role === 'time')?.cells ?? [];
  const nanos = nanosOf && batch.columns.find(({ role }) => role === 'nanos')?.cells;
  for (const [row, cell] of cells.entries()) {
    if (typeof cell !== 'number' && typeof cell !== 'bigint') continue;
    if (nanos !== undefined) nanos[row] = nanosOf?.(cell) ?? 0;
    cells[row] = adjust(cell);
  }
}

function narrow(value: bigint): number | bigint {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}
