import type { Repeat, RepeatOptions } from '../repeat.ts';

const PROGRESS_EVERY = 50;
const LANES = 4;

/** Resources that all rounds share. */
interface Shared {
  readonly end: () => Promise<void>;
}

export interface DifferentialOptions<T extends Shared> {
  /** Resolves with the number of compared records; 0 if the round could not compare anything. */
  readonly round: (seed: number, clients: T) => Promise<number>;
  readonly start: () => Promise<T | string>;
  readonly defaultCount?: number;
  /** Number of concurrent rounds. */
  readonly lanes?: number;
  /** Returns true for rounds that disturb other rounds. */
  readonly runsAlone?: (seed: number) => boolean;
}

/** Creates a repeat that runs one round per seed. */
export function differential<T extends Shared>({
  round,
  start,
  defaultCount = 1_000,
  lanes = LANES,
  runsAlone = () => false,
}: DifferentialOptions<T>): Repeat {
  return {
    unit: 'seeds',
    defaultCount,
    async run({ count = defaultCount, seed = 1, print }: RepeatOptions): Promise<boolean> {
      const clients = await start();
      if (typeof clients === 'string') throw new Error(clients);
      const began = performance.now();
      let done = 0;
      let records = 0;
      let differences = 0;
      let leftOut = 0;
      let longest = { seed, tookMs: 0 };
      const run = async (each: number): Promise<void> => {
        const roundBegan = performance.now();
        try {
          const compared = await round(each, clients);
          records += compared;
          if (compared === 0) leftOut += 1;
        } catch (error) {
          differences += 1;
          print(`FAIL ${error instanceof Error ? error.message : String(error)}`);
        }
        const tookMs = performance.now() - roundBegan;
        if (tookMs > longest.tookMs) longest = { seed: each, tookMs };
        if (++done % PROGRESS_EVERY === 0) print(`${String(done)} seeds, ${String(records)} records`);
      };
      for (const group of groupsOf(seed, count, runsAlone)) {
        const left = [...group];
        const lane = async (): Promise<void> => {
          for (let next = left.shift(); next !== undefined; next = left.shift()) await run(next);
        };
        await Promise.all(Array.from({ length: lanes }, lane));
      }
      await clients.end();
      const each = ((performance.now() - began) / count).toFixed(0);
      const slow = `the longest, ${String(longest.seed)}, ${longest.tookMs.toFixed(0)} ms`;
      print(
        `${String(count)} seeds (${String(leftOut)} compared nothing), ${String(records)} records, ${String(differences)} differences; ${each} ms a seed, ${slow}`,
      );
      return differences === 0;
    },
  };
}

/** Returns the seeds in groups. The rounds of a group may run concurrently. */
function groupsOf(first: number, count: number, runsAlone: (seed: number) => boolean): readonly (readonly number[])[] {
  const groups: number[][] = [[]];
  for (let seed = first; seed < first + count; seed++) {
    if (runsAlone(seed)) groups.push([seed], []);
    else groups.at(-1)?.push(seed);
  }
  return groups;
}
