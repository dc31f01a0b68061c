import type { TaskReport } from '../../connect/hosting/task-hosting.ts';
import type { ThreadName } from '../../observe/thread-figures.ts';
import type { ConnectorDirectory } from '../../herder/connector-directory.ts';
import type { ReplayFigures } from '../dead-letters/replay-figures.ts';
import type { RestartFigures } from '../restarts/restart-counts.ts';
import type { CommittedLags } from '../health/committed-lags.ts';
import type { Verdict } from '../health/verdicts.ts';
import type { ClusterView, Placement } from '../../herder/group/placement.ts';

/** The data from which the metrics are derived. Each request for the metrics reads it again. */
export interface MetricsSource {
  readonly directory: ConnectorDirectory;
  /** Which connectors and tasks belong to this worker. */
  readonly placement: Pick<Placement, 'ownsConnector' | 'ownsTask'>;
  /** Advertised `host:port`. */
  readonly workerId: string;
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  readonly committedLags: Pick<CommittedLags, 'all'>;
  taskReports(): Promise<readonly TaskReport[]>;
  /**
   * Verdicts on the connectors that have tasks or a failed instance on this worker, from the figures of this worker
   * alone. `reports`: the current reports of the tasks.
   */
  verdicts(reports: readonly TaskReport[]): Promise<readonly { readonly name: string; readonly verdict: Verdict }[]>;
  /** Counts of starts of connectors and tasks, by attribute of `connect-worker-metrics`. */
  startups(): Readonly<Record<string, number>>;
  restarts(): RestartFigures;
  readonly replays: { readonly figures: ReplayFigures };
  taskPlaces(): ReadonlyMap<string, ThreadName>;
  /** `undefined`: a standalone worker. */
  cluster(): ClusterView | undefined;
}
