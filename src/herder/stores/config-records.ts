import type { ConnectorConfig } from '../../connect/api.ts';
import type { TargetState } from '../../connect/task-assignment.ts';
import type { ConnectorState, RestartRequest, SessionKey } from './config-state.ts';

/** The change that a record of the config topic represents. */
export type ConfigChange =
  | { readonly kind: 'connector' | 'removed' | 'tasks' | 'target-state'; readonly connector: string }
  | { readonly kind: 'restart'; readonly request: RestartRequest }
  | { readonly kind: 'logger'; readonly logger: string; readonly level: string }
  | { readonly kind: 'session-key' }
  | { readonly kind: 'fenced' }
  | { readonly kind: 'none' };

const NONE: ConfigChange = { kind: 'none' };

interface Entry {
  config: ConnectorConfig | undefined;
  targetState: TargetState;
  /** Task records that have not been committed. Some of them may never be committed. */
  readonly pendingTasks: Map<number, ConnectorConfig>;
  committed: readonly ConnectorConfig[];
  appliedConfig: ConnectorConfig | undefined;
  inconsistent: boolean;
  taskCountRecord: number | undefined;
  pendingFencing: boolean;
}

/**
 * The state that results from the records of the config topic (docs/compatibility.md#internal-topics). This class performs no
 * I/O.
 */
export class ConfigRecords {
  readonly #entries = new Map<string, Entry>();
  #sessionKey: SessionKey | undefined;

  get sessionKey(): SessionKey | undefined {
    return this.#sessionKey;
  }

  names(): string[] {
    return [...this.#entries].filter(([, entry]) => entry.config !== undefined).map(([name]) => name);
  }

  connector(name: string): ConnectorState | undefined {
    const entry = this.#entries.get(name);
    if (entry?.config === undefined) return undefined;
    return {
      name,
      config: entry.config,
      targetState: entry.targetState,
      taskConfigs: entry.committed,
      appliedConfig: entry.appliedConfig,
      inconsistent: entry.inconsistent,
      taskCountRecord: entry.taskCountRecord,
      pendingFencing: entry.pendingFencing,
    };
  }

  /** Number of tasks of the last generation that wrote in transactions. Also returned for deleted connectors. */
  taskCountRecord(name: string): number | undefined {
    return this.#entries.get(name)?.taskCountRecord;
  }

  /** Applies a record. Throws if the value does not match the key; the caller logs and skips such a record. */
  apply(key: string, value: string | null): ConfigChange {
    if (key === 'session-key') return this.#applySessionKey(value);
    for (const [prefix, apply] of this.#appliers) {
      if (key.startsWith(prefix)) return apply(key.slice(prefix.length), value);
    }
    return NONE;
  }

  readonly #appliers: readonly (readonly [string, (rest: string, value: string | null) => ConfigChange])[] = [
    ['connector-', (name, value) => this.#applyConnector(name, value)],
    ['task-', (rest, value) => this.#applyTask(rest, value)],
    ['tasks-fencing-', (name, value) => this.#applyTaskCount(name, value)],
    ['commit-', (name, value) => this.#applyCommit(name, value)],
    ['target-state-', (name, value) => this.#applyTargetState(name, value)],
    ['restart-connector-', (name, value) => applyRestart(name, value)],
    ['logger-cluster-', (name, value) => applyLogger(name, value)],
  ];

  #entry(name: string): Entry {
    let entry = this.#entries.get(name);
    if (entry === undefined) {
      entry = {
        config: undefined,
        targetState: 'STARTED',
        pendingTasks: new Map(),
        committed: [],
        appliedConfig: undefined,
        inconsistent: false,
        taskCountRecord: undefined,
        pendingFencing: false,
      };
      this.#entries.set(name, entry);
    }
    return entry;
  }

  #applyConnector(name: string, value: string | null): ConfigChange {
    const entry = this.#entry(name);
    if (value === null) {
      if (entry.config === undefined) return NONE;
      entry.config = undefined;
      entry.committed = [];
      entry.appliedConfig = undefined;
      entry.targetState = 'STARTED';
      return { kind: 'removed', connector: name };
    }
    entry.config = properties(value);
    return { kind: 'connector', connector: name };
  }

  #applyTask(rest: string, value: string | null): ConfigChange {
    const dash = rest.lastIndexOf('-');
    const task = Number(rest.slice(dash + 1));
    if (dash < 1 || !Number.isInteger(task)) throw new Error(`task-${rest} does not end in a task number`);
    if (value === null) return NONE;
    this.#entry(rest.slice(0, dash)).pendingTasks.set(task, properties(value));
    return NONE;
  }

  #applyCommit(name: string, value: string | null): ConfigChange {
    if (value === null) return NONE;
    const { tasks } = JSON.parse(value) as { tasks?: unknown };
    if (typeof tasks !== 'number') throw new Error(`commit-${name} has no number of tasks`);
    const entry = this.#entry(name);
    const configs = Array.from({ length: tasks }, (_, task) => entry.pendingTasks.get(task) ?? entry.committed[task]);
    const complete = configs.filter((config) => config !== undefined);
    entry.inconsistent = complete.length < tasks;
    entry.committed = entry.inconsistent ? [] : complete;
    entry.pendingTasks.clear();
    entry.appliedConfig = entry.config;
    entry.pendingFencing = true;
    return { kind: 'tasks', connector: name };
  }

  #applyTaskCount(name: string, value: string | null): ConfigChange {
    if (value === null) return NONE;
    const count = (JSON.parse(value) as { 'task-count'?: unknown })['task-count'];
    if (typeof count !== 'number') throw new Error(`tasks-fencing-${name} has no number of tasks`);
    const entry = this.#entry(name);
    entry.taskCountRecord = count;
    entry.pendingFencing = false;
    return { kind: 'fenced' };
  }

  #applyTargetState(name: string, value: string | null): ConfigChange {
    const entry = this.#entry(name);
    const before = entry.targetState;
    entry.targetState = value === null ? 'STARTED' : targetState(value);
    return before === entry.targetState ? NONE : { kind: 'target-state', connector: name };
  }

  #applySessionKey(value: string | null): ConfigChange {
    if (value === null) return NONE;
    const record = JSON.parse(value) as { key?: unknown; algorithm?: unknown; 'creation-timestamp'?: unknown };
    this.#sessionKey = {
      key: String(record.key),
      algorithm: String(record.algorithm),
      createdAtMs: Number(record['creation-timestamp']),
    };
    return { kind: 'session-key' };
  }
}

function applyRestart(connector: string, value: string | null): ConfigChange {
  if (value === null) return NONE;
  const record = JSON.parse(value) as Record<string, unknown>;
  return {
    kind: 'restart',
    request: { connector, includeTasks: record['include-tasks'] === true, onlyFailed: record['only-failed'] === true },
  };
}

function applyLogger(logger: string, value: string | null): ConfigChange {
  if (value === null) return NONE;
  return { kind: 'logger', logger, level: String((JSON.parse(value) as { level?: unknown }).level) };
}

function properties(value: string): ConnectorConfig {
  const record = JSON.parse(value) as { properties?: unknown };
  if (typeof record.properties !== 'object' || record.properties === null) throw new Error('no properties');
  return record.properties as ConnectorConfig;
}

/** Reads `state.v2`. Workers of Kafka Connect before 3.5 write only `state`. */
function targetState(value: string): TargetState {
  const record = JSON.parse(value) as Record<string, unknown>;
  const state = record['state.v2'] ?? record['state'];
  if (state !== 'STARTED' && state !== 'PAUSED' && state !== 'STOPPED') {
    throw new Error(`unknown target state ${String(state)}`);
  }
  return state;
}

/** Record values in Java's format. */
export const configRecord = {
  properties: (config: ConnectorConfig) => JSON.stringify({ properties: config }),
  commit: (tasks: number) => JSON.stringify({ tasks }),
  taskCount: (tasks: number) => JSON.stringify({ 'task-count': tasks }),
  targetState: (state: TargetState) =>
    JSON.stringify({ state: state === 'STARTED' ? 'STARTED' : 'PAUSED', 'state.v2': state }),
  restart: (request: RestartRequest) =>
    JSON.stringify({ 'include-tasks': request.includeTasks, 'only-failed': request.onlyFailed }),
  sessionKey: ({ key, algorithm, createdAtMs }: SessionKey) =>
    JSON.stringify({ key, algorithm, 'creation-timestamp': createdAtMs }),
  loggerLevel: (level: string) => JSON.stringify({ level }),
};
