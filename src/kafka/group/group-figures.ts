/** How often something was done, and how long it took, in milliseconds. */
export interface Timing {
  readonly count: number;
  readonly totalMs: number;
  readonly maxMs: number;
}

export type GroupRequest = 'join' | 'sync' | 'heartbeat';

const NOTHING: Timing = { count: 0, totalMs: 0, maxMs: 0 };

/**
 * What the members of a group that one process has had one after another asked of the coordinator
 * (org.apache.kafka.clients.consumer.internals.AbstractCoordinator.GroupCoordinatorMetrics). Requests count when they are answered
 * without an error.
 */
export class GroupFigures {
  readonly #timings: Record<GroupRequest, Timing> = { join: NOTHING, sync: NOTHING, heartbeat: NOTHING };
  #failedRounds = 0;
  #lastHeartbeatAt: number | undefined;

  /** `sentAt`: milliseconds since the epoch. */
  answered(request: GroupRequest, sentAt: number): void {
    const ms = Math.max(0, Date.now() - sentAt);
    const { count, totalMs, maxMs } = this.#timings[request];
    this.#timings[request] = { count: count + 1, totalMs: totalMs + ms, maxMs: Math.max(maxMs, ms) };
    if (request === 'heartbeat') this.#lastHeartbeatAt = sentAt;
  }

  /** A round came to nothing and is begun again. */
  roundFailed(): void {
    this.#failedRounds += 1;
  }

  of(request: GroupRequest): Timing {
    return this.#timings[request];
  }

  get failedRounds(): number {
    return this.#failedRounds;
  }

  /** Milliseconds since the epoch; `undefined` before the first one. */
  get lastHeartbeatAt(): number | undefined {
    return this.#lastHeartbeatAt;
  }
}
