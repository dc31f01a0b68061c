import { taskText, type TaskId } from '../../connect/task-assignment.ts';
import type { Logger } from '../../observe/logger.ts';
import type { LogRecord, OpenRecordLog, RecordLog } from './record-log.ts';

export type State = 'UNASSIGNED' | 'RUNNING' | 'PAUSED' | 'STOPPED' | 'FAILED' | 'RESTARTING';

/** The status record of a connector or task (reference/kafka-connect.md 5.3). */
export interface Status {
  readonly state: State;
  readonly trace: string | null;
  readonly workerId: string;
  readonly generation: number;
  readonly version: string | null;
}

/**
 * Whether it runs: statuses of connectors and tasks of the whole cluster, and the topics each connector uses. A `safe` write
 * is dropped when another worker of a newer generation has spoken since.
 */
export class StatusStore {
  readonly #log: RecordLog;
  readonly #logger: Logger;
  readonly #connectors = new Map<string, Status>();
  readonly #tasks = new Map<string, Map<number, Status>>();

  constructor(open: OpenRecordLog, logger: Logger) {
    this.#log = open((record) => {
      this.#onRecord(record);
    });
    this.#logger = logger;
  }

  async start(): Promise<void> {
    await this.#log.start();
  }

  async stop(): Promise<void> {
    await this.#log.stop();
  }

  connector(name: string): Status | undefined {
    return this.#connectors.get(name);
  }

  /** By task number, ascending. */
  tasks(connector: string): readonly (readonly [number, Status])[] {
    return [...(this.#tasks.get(connector) ?? [])].sort(([a], [b]) => a - b);
  }

  task(id: TaskId): Status | undefined {
    return this.#tasks.get(id.connector)?.get(id.task);
  }

  /** Names of all connectors that have a status, of their own or through a task. */
  names(): string[] {
    return [...new Set([...this.#connectors.keys(), ...this.#tasks.keys()])];
  }

  async putConnector(name: string, status: Status, safe = false): Promise<void> {
    if (safe && !mayReplace(this.#connectors.get(name), status)) return;
    await this.#log.send(`status-connector-${name}`, render(status));
  }

  async putTask(id: TaskId, status: Status, safe = false): Promise<void> {
    if (safe && !mayReplace(this.task(id), status)) return;
    await this.#log.send(`status-task-${taskText(id)}`, render(status));
  }

  async removeTask(id: TaskId): Promise<void> {
    await this.#log.send(`status-task-${taskText(id)}`, null);
  }

  /** Takes away all statuses of a deleted connector; resolves when they are gone from this store. */
  async removeConnector(name: string): Promise<void> {
    await this.#log.sendAll([
      { key: `status-connector-${name}`, value: null },
      ...this.tasks(name).map(([task]) => ({ key: `status-task-${name}-${String(task)}`, value: null })),
    ]);
    await this.#log.readToEnd();
  }

  #onRecord(record: LogRecord): void {
    const key = Buffer.from(record.key).toString();
    try {
      const status = record.value === null ? null : parse(Buffer.from(record.value).toString());
      if (key.startsWith('status-connector-')) this.#applyConnector(key.slice('status-connector-'.length), status);
      else if (key.startsWith('status-task-')) this.#applyTask(key.slice('status-task-'.length), status);
    } catch (error) {
      this.#logger.error({ err: error }, `The status record ${key} cannot be read and is ignored`);
    }
  }

  #applyConnector(name: string, status: Status | null): void {
    if (status === null) this.#connectors.delete(name);
    else this.#connectors.set(name, status);
  }

  #applyTask(rest: string, status: Status | null): void {
    const dash = rest.lastIndexOf('-');
    const connector = rest.slice(0, dash);
    const task = Number(rest.slice(dash + 1));
    let tasks = this.#tasks.get(connector);
    if (status === null) {
      tasks?.delete(task);
      if (tasks?.size === 0) this.#tasks.delete(connector);
      return;
    }
    if (tasks === undefined) {
      tasks = new Map();
      this.#tasks.set(connector, tasks);
    }
    tasks.set(task, status);
  }
}

/** Connect's rule for safe writes: same worker, or the stored record is of an older or equal generation. */
function mayReplace(stored: Status | undefined, next: Status): boolean {
  return stored === undefined || stored.workerId === next.workerId || stored.generation <= next.generation;
}

function render(status: Status): Uint8Array {
  const { state, trace, workerId, generation, version } = status;
  return Buffer.from(JSON.stringify({ state, trace, worker_id: workerId, generation, version }));
}

function parse(text: string): Status {
  const record = JSON.parse(text) as Record<string, unknown>;
  return {
    state: record['state'] as State,
    trace: typeof record['trace'] === 'string' ? record['trace'] : null,
    workerId: String(record['worker_id']),
    generation: Number(record['generation']),
    version: typeof record['version'] === 'string' ? record['version'] : null,
  };
}
