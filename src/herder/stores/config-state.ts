import type { ConnectorConfig } from '../../connect/api.ts';
import type { TargetState } from '../../connect/task-assignment.ts';

/** What the config topic says of one connector. */
export interface ConnectorState {
  readonly name: string;
  /** As the user gave it, placeholders unresolved, plus `name`. */
  readonly config: ConnectorConfig;
  readonly targetState: TargetState;
  /** The committed task configurations, by task number. */
  readonly taskConfigs: readonly ConnectorConfig[];
  /** The connector's configuration when these task configurations were made; `undefined` when that cannot be told. */
  readonly appliedConfig: ConnectorConfig | undefined;
  /** A commit without all its task records (compaction took some): the tasks must be made again. */
  readonly inconsistent: boolean;
  /** How many tasks may have transactions under their ids, as recorded when they were started; `undefined`: none. */
  readonly taskCountRecord: number | undefined;
  /** Task configurations have been written since that record: before their tasks start, those of before are fenced. */
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

/** Told in log order, after the store's own state has changed. Not called for what was read during `start`. */
export interface ConfigListener {
  /** The connector is new, changed or deleted, or its task configurations are new. */
  workChanged(name: string): void;
  targetStateChanged(name: string): void;
  restartRequested(request: RestartRequest): void;
  loggerLevelChanged(logger: string, level: string): void;
}
