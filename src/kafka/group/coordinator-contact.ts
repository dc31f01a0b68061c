import type { GroupCoordinatorMetrics, GroupRequest } from './group-coordinator-metrics.ts';

/** The last contact of a member with its group coordinator. */
export class CoordinatorContact {
  readonly #metrics: GroupCoordinatorMetrics | undefined;
  #lastAt = 0;
  #unanswered = false;

  constructor(metrics: GroupCoordinatorMetrics | undefined) {
    this.#metrics = metrics;
  }

  /**
   * Time at which the last accepted request was sent to the coordinator, in milliseconds since the epoch. The time of the
   * response would be misleading, because a suspended process may read the response late.
   */
  get lastAt(): number {
    return this.#lastAt;
  }

  /** True if the last request to the coordinator failed with a retriable error, such as a missing response. */
  get unanswered(): boolean {
    return this.#unanswered;
  }

  answered(request: GroupRequest, sentAt: number): void {
    this.#metrics?.answered(request, sentAt);
    this.#lastAt = sentAt;
    this.#unanswered = false;
  }

  failed(): void {
    this.#unanswered = true;
  }
}
