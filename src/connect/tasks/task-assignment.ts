import type { ConnectorConfig } from '../api.ts';

export interface TaskId {
  readonly connector: string;
  readonly task: number;
}

/** `connector-task`, as Connect prints it. */
export function taskText(id: TaskId): string {
  return `${id.connector}-${String(id.task)}`;
}

/** What a user wants of a connector (config topic, `state.v2`). */
export type TargetState = 'STARTED' | 'PAUSED' | 'STOPPED';

/**
 * All that a task host needs to run one task: plain data, so that the host may live in another thread. Variables of config
 * providers are in it as they were given, until the task is started.
 */
export interface TaskAssignment {
  readonly id: TaskId;
  readonly type: 'sink' | 'source';
  readonly connectorConfig: ConnectorConfig;
  readonly taskConfig: ConnectorConfig;
  readonly targetState: TargetState;
}

/** What a task host tells about a task. Events of one task come in order; STOPPED is its last. */
export type TaskEvent =
  | { readonly id: TaskId; readonly state: 'RUNNING' | 'PAUSED' | 'STOPPED' }
  | { readonly id: TaskId; readonly state: 'FAILED'; readonly trace: string }
  | { readonly id: TaskId; readonly state: 'TOPIC'; readonly topic: string };
