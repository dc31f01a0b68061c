import type { TaskId } from '../../connect/task-assignment.ts';
import type { GroupCoordinatorMetrics } from '../../kafka/group/group-membership.ts';
import type { Work } from './group-bytes.ts';
import { NO_HANDOVERS, type Handovers } from './handovers.ts';

/** Receives the assignments and revocations of this worker. */
export interface WorkListener {
  /**
   * Called for each new assignment of this worker, even if it contains no work; `isLeader` may have changed too.
   * Resolves when the assignment has been handled.
   */
  assigned(work: Work, handovers: Handovers): Promise<void>;
  /**
   * Called when work was revoked. Resolves when the work has been stopped here and its statuses have been written.
   * `handsOver` means that other workers start the work immediately. With the resulting handovers, the tasks resume
   * their consumer group memberships there.
   */
  revoked(work: Work, handsOver: boolean): Promise<Handovers>;
}

/** One rebalance, from its reason to the start of the new work. */
export interface RebalanceView {
  readonly generation: number;
  /** True if this worker became or remained the leader. */
  readonly led: boolean;
  readonly reason: string;
  readonly completedAtMs: number;
  readonly durationMs: number;
  /** Names of connectors, and of tasks as `connector-task`. */
  readonly assigned: readonly string[];
  readonly revoked: readonly string[];
  readonly delayMs: number;
  /** Workers that joined or left since the previous rebalance; set only if this worker led both rebalances. */
  readonly joined?: readonly string[] | undefined;
  readonly left?: readonly string[] | undefined;
}

/**
 * A past rebalance. `assigned` and `revoked` contain only the first names; the counts are the total numbers of names.
 */
export interface PastRebalance extends RebalanceView {
  readonly assignedCount: number;
  readonly revokedCount: number;
}

/** A worker's view of its group, for operators. */
export interface ClusterView {
  readonly groupId: string;
  /** `sessioned`, `compatible` or `default`; `undefined` before the first assignment. */
  readonly protocol: string | undefined;
  readonly generation: number;
  readonly leaderUrl: string | undefined;
  readonly isLeader: boolean;
  readonly rebalancing: boolean;
  /** True if the worker is draining (see `DrainablePlacement.drain`). */
  readonly draining: boolean;
  /** Maximum time for which the work of a lost worker is not assigned: the session timeout plus the rebalance delay. */
  readonly lostWorkWaitsMs: number;
  readonly connectors: readonly string[];
  readonly tasks: readonly TaskId[];
  readonly completedRebalances: number;
  /** Average over the metric window; NaN if there was no rebalance. */
  readonly rebalanceAverageMs: number;
  readonly rebalanceMaxMs: number;
  readonly lastRebalance: RebalanceView | undefined;
  /** The most recent rebalances of this worker, oldest first. */
  readonly rebalances: readonly PastRebalance[];
  /** Metrics of the requests to the group coordinator. */
  readonly requests: GroupCoordinatorMetrics | undefined;
}

/** A worker of the group, as the leader knew it at the last assignment. */
export interface GroupWorker {
  /** Advertised `host:port`. */
  readonly workerId: string;
  /** URL of the REST API; ends with a slash. */
  readonly url: string;
  readonly draining: boolean;
  /** Number of its connectors. For a draining worker, the number of remaining connectors. */
  readonly connectors: number;
  readonly tasks: number;
}

/**
 * Determines which connectors and tasks are assigned to this worker. This is separate from what should run (the config store)
 * and from what is running (supervision and status), so that several workers can share the work.
 */
export interface Placement {
  /** Increases with each rebalance. Every status record of a connector or task contains it. 0 in standalone mode. */
  readonly generation: number;
  /** Only the leader writes connector and task configurations. */
  readonly isLeader: boolean;
  /** URL of the leader's REST API; `undefined` while this worker has no assignment, and in standalone mode. */
  readonly leaderUrl: string | undefined;
  /**
   * Time, in milliseconds since the epoch, after which other workers may run the work of this worker. Each contact with the
   * coordinator postpones this time. It is 0 while lost work is being stopped.
   */
  readonly mayWorkUntil: number;
  ownsConnector(name: string): boolean;
  ownsTask(id: TaskId): boolean;
  /** URL of the REST API of the worker that owns the connector or task. Only the leader knows it. */
  ownerUrl(connector: string, task?: number): string | undefined;
  /** Joins the cluster. Resolves after the first assignment. The stores must have been read. */
  start(listener: WorkListener): Promise<void>;
  /** Leaves the cluster. All connectors and tasks of this worker must have been stopped. */
  stop(): Promise<void>;
  /**
   * Called when an assigned task delivers records, found none at its first poll, or will not deliver any. Other moving
   * tasks then no longer wait for it.
   */
  arrived(id: TaskId): void;
  /** Called when the connector was created, changed or deleted, or when its task configurations have changed. */
  workChanged(connector: string): void;
  /** Resolves when no rebalance is in progress. Rejects if this worker stops before that. */
  settled(): Promise<void>;
  /** `undefined` for a standalone worker. */
  view(): ClusterView | undefined;
}

/** Placement in a group whose workers can be drained. */
export interface DrainablePlacement extends Placement {
  /** All workers of the group. Only the leader knows them. */
  workers(): readonly GroupWorker[] | undefined;
  /** True if the leader is not a Sluice worker and therefore does not support draining. */
  readonly isLeaderForeign: boolean;
  /**
   * Starts or ends draining. A draining worker hands over its connectors and tasks in small parts, and receives no
   * others unless all workers are draining. This is independent of which Sluice worker is the leader. The setting
   * applies until the process ends.
   */
  drain(isDraining: boolean): void;
}

/** Must be checked before each write. Returns false as soon as other workers may run the work of this worker. */
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
    // No work moves, so nothing waits for the task.
  }

  workChanged(): void {
    // A standalone worker always owns all work.
  }

  async settled(): Promise<void> {
    await Promise.resolve();
  }

  view(): undefined {
    return undefined;
  }
}
