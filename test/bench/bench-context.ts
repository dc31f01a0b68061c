import type { BenchServices } from './bench-services.ts';
import type { JavaPeer } from './java-peer.ts';
import type { Stretch } from './stretch.ts';
import type { WorkerSettings, WorkerUnderTest } from './worker-under-test.ts';

export interface BenchContext {
  readonly services: BenchServices;
  readonly rows: number;
  /** Counted runs, after one that warms up; the median is quoted. */
  readonly runs: number;
  /** Duration of waits and of loads at a steady rate. */
  readonly seconds: number;
  /** Options of the connector that come over the workload's. */
  readonly overrides: Readonly<Record<string, string>>;
  /** The counted stretches of the workload's worker, for a profile. */
  readonly stretches: Stretch[];
  /** Properties of the command line come over those of the workload. */
  readonly startWorker: (
    properties?: WorkerSettings['properties'],
    nodeFlags?: WorkerSettings['nodeFlags'],
  ) => Promise<WorkerUnderTest>;
  /** The Java worker, started by the first workload that needs it; `undefined` without peers. */
  readonly peer: () => Promise<JavaPeer | undefined>;
}

/** Runs one workload; what it gives is printed as it is. */
export type Workload = (context: BenchContext) => Promise<object>;
