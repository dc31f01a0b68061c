import type { BenchServices } from './bench-services.ts';
import type { JavaPeer } from './java-peer.ts';
import type { Stretch } from './stretch.ts';
import type { WorkerSettings, WorkerUnderTest } from './worker-under-test.ts';

export interface BenchContext {
  readonly services: BenchServices;
  readonly rows: number;
  /** Number of counted runs. One more run before them warms up. The result is the median. */
  readonly runs: number;
  /** Duration of waits, and of loads with a constant rate. */
  readonly seconds: number;
  /** Options of the connector that override those of the workload. */
  readonly overrides: Readonly<Record<string, string>>;
  /** The measured periods of the workload's worker, for a profile. */
  readonly stretches: Stretch[];
  /** Starts a worker. Properties of the command line override those of the workload. */
  readonly startWorker: (
    properties?: WorkerSettings['properties'],
    nodeFlags?: WorkerSettings['nodeFlags'],
  ) => Promise<WorkerUnderTest>;
  /** Returns the Java worker, which the first workload that needs it starts; `undefined` without peers. */
  readonly peer: () => Promise<JavaPeer | undefined>;
}

/** Runs one workload and returns the result to print. */
export type Workload = (context: BenchContext) => Promise<object>;
