import type { FreezeCase } from './cases.ts';
import type { Scanner } from './scanner.ts';

/** Nine times the length may take this many times as long; a quadratic scanner takes eighty times. */
const LENGTHS_APART = 9;
const MAX_GROWTH = 30;
const TRIES = 3;

export interface Verdict {
  readonly tookMs: number;
  /** How many times as long a text of nine times the length takes; `undefined` below the floor. */
  readonly growth: number | undefined;
  /** Description of the problem, if there is one. */
  readonly problem: string | undefined;
}

/**
 * Whether the time that a scanner takes for a text grows with its length and not faster. The shortest of several runs
 * counts, so that a busy machine makes no difference.
 */
export function judge({ scanner, text, length, floorMs }: FreezeCase): Verdict {
  let tookMs = timed(scanner, text.of(length));
  for (let more = 1; more < TRIES && tookMs > floorMs; more++) {
    tookMs = Math.min(tookMs, timed(scanner, text.of(length)));
  }
  if (tookMs <= floorMs) return { tookMs, growth: undefined, problem: undefined };
  const shorter = text.of(Math.ceil(length / LENGTHS_APART));
  const shortMs = Math.min(...Array.from({ length: TRIES }, () => timed(scanner, shorter)));
  const growth = tookMs / Math.max(shortMs, floorMs / LENGTHS_APART / 10);
  const figures = `${shortMs.toFixed(1)} ms for ${String(shorter.length)} characters, ${tookMs.toFixed(0)} ms for ${String(length)}`;
  return { tookMs, growth, problem: growth > MAX_GROWTH ? `grows faster than the input: ${figures}` : undefined };
}

/** CPU time of a scan, which does not depend on other processes as clock time does. */
function timed(scanner: Scanner, text: string): number {
  const before = process.cpuUsage();
  try {
    scanner.read(text);
  } catch {
    // To refuse a text is as good as to read it.
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
