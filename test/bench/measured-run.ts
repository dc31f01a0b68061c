import type { BenchContext } from './bench-context.ts';
import { rowsPerSecond, type Stretch } from './stretch.ts';
import type { WorkerUnderTest } from './worker-under-test.ts';

const SAMPLE_EVERY_MS = 250;

/** One run of a workload. */
export interface Run {
  readonly rowsPerS: number;
  /** CPU seconds of the worker process per million rows. */
  readonly cpu: number;
  /** CPU seconds of its main thread per million rows. */
  readonly mainThreadCpu: number;
  /** CPU seconds of all processes of the database per million rows; NaN if the database is on another machine. */
  readonly databaseCpu: number;
  /** The worker's memory in MiB, measured four times a second. */
  readonly rssMb: readonly number[];
}

/**
 * Runs `action`, which returns the measured period, and determines its cost. The cost includes the start of connectors.
 */
export async function measure(
  { services, rows, stretches }: Pick<BenchContext, 'services' | 'rows' | 'stretches'>,
  worker: WorkerUnderTest,
  action: () => Promise<Stretch>,
): Promise<Run> {
  const rssMb: number[] = [];
  const sampling = setInterval(() => {
    void worker.rssMb().then((mb) => rssMb.push(mb));
  }, SAMPLE_EVERY_MS);
  try {
    const usage = async (): Promise<number[]> => [
      await worker.cpuSeconds(),
      await worker.mainThreadSeconds(),
      await services.databaseCpuSeconds(),
    ];
    const before = await usage();
    const stretch = await action();
    const after = await usage();
    const perMillion = (at: number): number => (((after[at] ?? NaN) - (before[at] ?? NaN)) * 1e6) / rows;
    rssMb.push(await worker.rssMb());
    stretches.push(stretch);
    return {
      rowsPerS: rowsPerSecond(stretch),
      cpu: perMillion(0),
      mainThreadCpu: perMillion(1),
      databaseCpu: perMillion(2),
      rssMb,
    };
  } finally {
    clearInterval(sampling);
  }
}

/** Runs `action` once without counting, and then the given number of times. `before` is not measured. */
export async function measureRuns(
  context: BenchContext,
  worker: WorkerUnderTest,
  before: () => Promise<void>,
  action: () => Promise<Stretch>,
): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for (let run = -1; run < context.runs; run++) {
    await before();
    const measured = await measure(context, worker, action);
    if (run >= 0) runs.push(measured);
    else context.stretches.length = 0;
  }
  return runs;
}
