/** A worker, as `GET /cluster/workers` has it. */
export interface GroupWorker {
  readonly worker_id: string;
  readonly url: string;
  readonly is_leader: boolean;
  readonly state: string;
  readonly connectors: number;
  readonly tasks: number;
}

export interface Rebalance {
  readonly at: number;
  readonly generation: number;
  readonly led: boolean;
  readonly reason: string;
  readonly durationMs: number;
  readonly delayMs: number;
  readonly assigned: readonly string[];
  readonly assignedCount: number;
  readonly revoked: readonly string[];
  readonly revokedCount: number;
}

/** The answer of `GET /ui/workers/{worker}`. */
export interface WorkerDetail {
  readonly worker: string;
  readonly version: string;
  readonly startedAt: number;
  readonly memoryBytes: number;
  readonly cpuCores: number | null;
  readonly loopDelayMs: number;
  readonly isRebalancing: boolean;
  readonly threads: readonly {
    readonly thread: string | number;
    readonly purpose: string;
    readonly loopDelayMs: number;
    readonly taskCount: number;
    readonly tasks: readonly string[];
  }[];
  readonly rebalances: readonly Rebalance[];
}
