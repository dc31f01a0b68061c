import type { TaskId } from '../../connect/task-assignment.ts';
import type { GroupCoordinatorMetrics } from '../../kafka/group/group-membership.ts';
import type { Work } from './group-bytes.ts';
import { NO_HANDOVERS, type Handovers } from './handovers.ts';

/** Receives the assignments and revocations of this worker. */
export interface WorkListener {
  /** The work was assigned to this worker; `isLeader` may have changed too. Resolves when the assignment has been handled. */
  assigned(work: Work, handovers: Handovers): Promise<void>;
  /**
   * The work was revoked. Resolves when it has been stopped here and its statuses are written. `handsOver`: other workers start it
   * immediately, with the handovers of its tasks.
   */
  revoked(work: Work, handsOver: boolean): Promise<Handovers>;
}

/** One rebalance, from its reason to the start of the new work. */
export interface RebalanceView {
  readonly generation: number;
  /** Whether this worker became the leader, or remained it. */
  readonly led: boolean;
  readonly reason: string;
  readonly completedAtMs: number;
  readonly durationMs: number;
  /** Names of connectors, and of tasks as `connector-task`. */
  readonly assigned: readonly string[];
  readonly revoked: readonly string[];
  readonly delayMs: number;
  /** Workers that joined or left since the previous rebalance; known only to the leader. */
  readonly joined?: readonly string[] | undefined;
  readonly left?: readonly string[] | undefined;
}

/** A past rebalance, with the first names of its work and their number. */
export interface PastRebalance extends RebalanceView {
  readonly assignedCount: number;
  readonly revokedCount: number;
}

/** A worker's place in its group, for operators. */
export interface ClusterView {
  readonly groupId: string;
  /** `sessioned`, `compatible` or `default`; `undefined` before the first assignment. */
  readonly protocol: string | undefined;
  readonly generation: number;
  readonly leaderUrl: string | undefined;
  readonly isLeader: boolean;
  readonly rebalancing: boolean;
  /** The worker hands over its work and receives none. */
  readonly draining: boolean;
  /** The longest time for which the work of a lost worker is unassigned: its session timeout and the rebalance delay. */
  readonly lostWorkWaitsMs: number;
  readonly connectors: readonly string[];
  readonly tasks: readonly TaskId[];
  readonly completedRebalances: number;
  /** Average over the metric window; NaN if there was no rebalance. */
  readonly rebalanceAverageMs: number;
  readonly rebalanceMaxMs: number;
  readonly lastRebalance: RebalanceView | undefined;
  /** The last rebalances of this worker, the newest last. */
  readonly rebalances: readonly PastRebalance[];
  /** Metrics of the requests to the group coordinator. */
  readonly requests: GroupCoordinatorMetrics | undefined;
}

/** A worker of the group, as the leader knows it since the last assignment. */
export interface GroupWorker {
  /** Advertised `host:port`. */
  readonly workerId: string;
  /** Ends with a slash. */
  readonly url: string;
  readonly draining: boolean;
  /** Number of its connectors; for a draining worker, the remaining ones. */
  readonly connectors: number;
  readonly tasks: number;
}

/**
 * Where connectors and tasks run: which of them are assigned to this worker. It is separate from what should run (the config store)
 * and from whether it runs (supervision and status), so that several workers can share the work.
 */
export interface Placement {
  /** Increases with each rebalance; part of every status record (0 in standalone mode). */
  readonly generation: number;
  /** Only the leader writes connector and task configurations. */
  readonly isLeader: boolean;
  /** URL of the leader's REST API; `undefined` while there is no leader. */
  readonly leaderUrl: string | undefined;
  /**
   * From this time on, other workers may run the work of this worker. The time advances with each contact to the coordinator; it is in
   * milliseconds since the epoch, and 0 while lost work is being stopped.
   */
  readonly mayWorkUntil: number;
  ownsConnector(name: string): boolean;
  ownsTask(id: TaskId): boolean;
  /** URL of the REST API of the worker that owns the connector, or the task; only known on the leader. */
  ownerUrl(connector: string, task?: number): string | undefined;
  /** Resolves with the first assignment. The stores must have been read. */
  start(listener: WorkListener): Promise<void>;
  /** Leaves the cluster. All connectors and tasks of this worker must have been stopped. */
  stop(): Promise<void>;
  /** An assigned task delivers, or will not deliver; other moving tasks no longer wait for it. */
  arrived(id: TaskId): void;
  /** The connector was created or deleted, or its number of tasks has changed. */
  workChanged(connector: string): void;
  /** Resolves when no rebalance is in progress; rejects if this worker stops before that. */
  settled(): Promise<void>;
  /** `undefined` for a standalone worker. */
  view(): ClusterView | undefined;
}

/** Placement in a group whose workers can be drained. */
export interface DrainablePlacement extends Placement {
  /** All workers of the group; only known on the leader. */
  workers(): readonly GroupWorker[] | undefined;
  /** The leader is not a Sluice worker, so it does not support draining. */
  readonly isLeaderForeign: boolean;
  /**
   * Starts or ends draining: a draining worker hands over its connectors and tasks in small parts and receives no others, regardless of
   * which worker leads. The setting lasts until the process ends.
   */
  drain(isDraining: boolean): void;
}

/** Must be checked before each write: false as soon as other workers may run the work of this worker. */
export function mayWork({ mayWorkUntil }: Pick<Placement, 'mayWorkUntil'>): boolean {
  return Date.now() <= mayWorkUntil;
}

/** Placement of a standalone worker, which owns all work. */
export class SoleWorker implements Placement {
  readonly generation = 0;
  readonly isLeader = true;
  readonly leaderUrl = undefined;
  readonly mayWorkUntil = Infinity;

  ownsConnector(): boolean {
    return true;
  }

  ownsTask(): boolean {
    return true;
  }

  ownerUrl(): undefined {
    return undefined;
  }

  async start(listener: WorkListener): Promise<void> {
    await listener.assigned({ connectors: [], tasks: [] }, NO_HANDOVERS);
  }

  async stop(): Promise<void> {
    await Promise.resolve();
  }

  arrived(): void {
    // Nothing moves.
  }

  workChanged(): void {
    // A standalone worker owns all work.
  }

  async settled(): Promise<void> {
    await Promise.resolve();
  }

  view(): undefined {
    return undefined;
  }
}
