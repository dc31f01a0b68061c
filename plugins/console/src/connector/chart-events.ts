import type { ConnectorChangeAnswer, Health } from '../common/answers.ts';
import { texts } from '../texts/connector.ts';
import { texts as history } from '../texts/history.ts';
import type { Points } from './chart-figures.ts';

/** An event of a connector, shown as a mark in its charts. */
export interface ChartEvent {
  /** Seconds since the epoch. */
  readonly at: number;
  readonly text: string;
  readonly isBad: boolean;
}

const BAD: ReadonlySet<string> = new Set(['FAILED', 'STALLED']);

/**
 * Events for configuration changes and for changes of the verdict, the oldest first. The first of `verdicts` is not an
 * event, because the verdict before it is unknown.
 */
export function chartEvents(
  changes: readonly Pick<ConnectorChangeAnswer, 'at' | 'what'>[],
  verdicts: Health['verdicts'],
): readonly ChartEvent[] {
  const changed = changes.map(({ at, what }) => ({
    at: Date.parse(at) / 1000,
    text: history.what[what],
    isBad: false,
  }));
  const became = verdicts.slice(1).map(([verdict, at]) => ({
    at: at / 1000,
    text: texts.becomes(verdict),
    isBad: BAD.has(verdict),
  }));
  return [...changed, ...became].sort((a, b) => a.at - b.at);
}

/** The trend of the lag is computed from this many seconds. */
const TREND_SECONDS = 300;
const MIN_POINTS = 6;
/** A smaller lag has no trend, because it changes at random. */
const MIN_LAG = 100;
/** If the lag falls by fewer records per second, the fall may be random. */
const MIN_FALL = 0.1;

/**
 * Estimates from the trend of the last five minutes how many milliseconds it takes until the lag is zero. Returns
 * `never` if the lag rises or falls by less than MIN_FALL, and `undefined` if the lag is small or has too few points.
 */
export function catchUp([at, values]: Points): number | 'never' | undefined {
  const end = at.at(-1) ?? 0;
  const known = at.flatMap((second, index): [number, number][] => {
    const value = values[index] ?? null;
    return value === null || end - second > TREND_SECONDS ? [] : [[second - end, value]];
  });
  const last = known.at(-1)?.[1] ?? 0;
  if (known.length < MIN_POINTS || last < MIN_LAG) return undefined;
  const mean = (of: 0 | 1): number => known.reduce((sum, each) => sum + each[of], 0) / known.length;
  const [x, y] = [mean(0), mean(1)];
  const spread = known.reduce((sum, [second]) => sum + (second - x) ** 2, 0);
  const slope = known.reduce((sum, [second, value]) => sum + (second - x) * (value - y), 0) / Math.max(1e-9, spread);
  return slope < -MIN_FALL ? (last / -slope) * 1000 : 'never';
}

/** The points of the last `minutes` minutes before the newest point. */
export function within([at, values]: Points, minutes: number): Points {
  const from = (at.at(-1) ?? 0) - minutes * 60;
  const first = at.findIndex((second) => second >= from);
  return first <= 0 ? [at, values] : [at.slice(first), values.slice(first)];
}

export function isFlat([, values]: Points): boolean {
  return values.every((value) => value === null || value === 0);
}
