import type { ConnectorConfig } from '../../connect/api.ts';
import type { TargetState } from '../../connect/task-assignment.ts';

/** State of one connector in the config topic. */
export interface ConnectorState {
  readonly name: string;
  /** The configuration as the user sent it, with unresolved variables, plus `name`. */
  readonly config: ConnectorConfig;
  readonly targetState: TargetState;
  /** The committed task configurations, by task number. */
  readonly taskConfigs: readonly ConnectorConfig[];
  /** The connector configuration for which the task configurations were generated; `undefined` if unknown. */
  readonly appliedConfig: ConnectorConfig | undefined;
  /**
   * True if task records of the last commit are missing because they were compacted away. The task configurations must be
   * generated again.
   */
  readonly inconsistent: boolean;
  /**
   * Number of tasks whose transactional ids may be in use, as recorded before these tasks started; `undefined` if there
   * are none.
   */
  readonly taskCountRecord: number | undefined;
  /**
   * True if task configurations were written after `taskCountRecord`, so that earlier tasks must be fenced before new ones
   * start.
   */
  readonly pendingFencing: boolean;
}

export interface RestartRequest {
  readonly connector: string;
  readonly includeTasks: boolean;
  readonly onlyFailed: boolean;
}

export interface SessionKey {
  readonly key: string;
  readonly algorithm: string;
  readonly createdAtMs: number;
}

/**
 * Receives changes in log order, after the state of the store has changed. Does not receive the records that are read
 * during `start`.
 */
export interface ConfigListener {
  /** The connector was created, changed or deleted, or its task configurations have changed. */
  workChanged(name: string): void;
  targetStateChanged(name: string): void;
  restartRequested(request: RestartRequest): void;
  loggerLevelChanged(logger: string, level: string): void;
}
