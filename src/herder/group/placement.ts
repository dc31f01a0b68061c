import type { TaskId } from '../../connect/task-assignment.ts';
import type { GroupCoordinatorMetrics } from '../../kafka/group/group-membership.ts';
import type { Work } from './group-bytes.ts';
import { NO_HANDOVERS, type Handovers } from './handovers.ts';

/** Is told what this worker gets and has to give up. */
export interface WorkListener {
  /** From now on this worker's own; `isLeader` may have changed too. Resolves when that has been acted on. */
  assigned(work: Work, handovers: Handovers): Promise<void>;
  /**
   * Not this worker's any more: resolves when it has been stopped here and its statuses are written. `handsOver`: others are to
   * get it at once, and what its tasks left to them.
   */
  revoked(work: Work, handsOver: boolean): Promise<Handovers>;
}

/** One rebalance, from its reason to the start of what is new. */
export interface RebalanceView {
  readonly generation: number;
  /** Whether this worker led the group from then on. */
  readonly led: boolean;
  readonly reason: string;
  readonly completedAtMs: number;
  readonly durationMs: number;
  /** Names of connectors, and of tasks as `connector-task`. */
  readonly assigned: readonly string[];
  readonly revoked: readonly string[];
  readonly delayMs: number;
}

/** A rebalance that is remembered: of its work the first names and how many there were. */
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
  /** It gives up its work and gets none. */
  readonly draining: boolean;
  /** So long, at most, the work of a worker that is lost waits for another one: its session, then the delay. */
  readonly lostWorkWaitsMs: number;
  readonly connectors: readonly string[];
  readonly tasks: readonly TaskId[];
  readonly completedRebalances: number;
  /** Within the window of metrics; NaN when there was none. */
  readonly rebalanceAverageMs: number;
  readonly rebalanceMaxMs: number;
  readonly lastRebalance: RebalanceView | undefined;
  /** The last ones of this worker, the newest last. */
  readonly rebalances: readonly PastRebalance[];
  /** Of the requests to the group's coordinator. */
  readonly requests: GroupCoordinatorMetrics | undefined;
}

/** A worker of the group, as its leader knows it since the last division of work. */
export interface GroupWorker {
  /** Advertised `host:port`. */
  readonly workerId: string;
  /** With a slash at its end. */
  readonly url: string;
  readonly draining: boolean;
  /** How many it has; of a draining worker, how many are left. */
  readonly connectors: number;
  readonly tasks: number;
}

/**
 * Where things run: which of the cluster's connectors and tasks are this worker's. Told apart from what should run (the
 * config store) and from whether it runs (execution and status), so that several workers can share the work.
 */
export interface Placement {
  /** Grows with each new division of work; part of every status record (0 in standalone mode). */
  readonly generation: number;
  /** The leader alone writes connector and task configurations. */
  readonly isLeader: boolean;
  /** Where the leader's REST API is; `undefined` while there is none. */
  readonly leaderUrl: string | undefined;
  /**
   * From this time on others may have this worker's work, unless it is later when it is asked for again; milliseconds since the
   * epoch, 0 while work is being given up.
   */
  readonly mayWorkUntil: number;
  ownsConnector(name: string): boolean;
  ownsTask(id: TaskId): boolean;
  /** Where the REST API of the worker is that has the connector, or the task; known to the leader alone. */
  ownerUrl(connector: string, task?: number): string | undefined;
  /** Resolves when this worker knows what is its own for the first time. The stores must have been read. */
  start(listener: WorkListener): Promise<void>;
  /** Takes leave of the cluster. What ran here must have been stopped. */
  stop(): Promise<void>;
  /** A task that was assigned delivers, or will not: others that move wait no longer for it. */
  arrived(id: TaskId): void;
  /** The connector has come, gone, or has another number of tasks. */
  workChanged(connector: string): void;
  /** Resolves when no division of work is going on; rejects when this worker stops meanwhile. */
  settled(): Promise<void>;
  /** `undefined` for a worker without a cluster. */
  view(): ClusterView | undefined;
}

/** A place in a group whose workers can be drained. */
export interface DrainablePlacement extends Placement {
  /** All workers of the group; known to the leader alone. */
  workers(): readonly GroupWorker[] | undefined;
  /** The leader is no Sluice worker: it does not know what draining is. */
  readonly isLeaderForeign: boolean;
  /**
   * This worker gives up its connectors and tasks part by part and gets no others, or takes work again. It holds until the
   * process ends, whoever leads.
   */
  drain(isDraining: boolean): void;
}

/** False as soon as others may have this worker's work: what still runs may not write. To be asked right before a write. */
export function mayWork({ mayWorkUntil }: Pick<Placement, 'mayWorkUntil'>): boolean {
  return Date.now() <= mayWorkUntil;
}

/** A worker without a cluster (standalone): everything is its own. */
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
    // All of it is this worker's anyway.
  }

  async settled(): Promise<void> {
    await Promise.resolve();
  }

  view(): undefined {
    return undefined;
  }
}
