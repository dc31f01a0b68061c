import { taskText, type TaskId } from '../../connect/task-assignment.ts';
import type { Logger } from '../../observe/logger.ts';
import type { LogRecord, OpenRecordLog, RecordLog } from './record-log.ts';

export type State = 'UNASSIGNED' | 'RUNNING' | 'PAUSED' | 'STOPPED' | 'FAILED' | 'RESTARTING';

/** The status record of a connector or task (docs/compatibility.md#internal-topics). */
export interface Status {
  readonly state: State;
  readonly trace: string | null;
  readonly workerId: string;
  readonly generation: number;
  readonly version: string | null;
}

/** The fact that a connector has written to a topic or read from it. */
export interface TopicStatus {
  readonly topic: string;
  readonly connector: string;
  /** The task that used the topic first. */
  readonly task: number;
  readonly discoveredAtMs: number;
}

/**
 * Statuses of all connectors and tasks of the cluster, and the topics that each connector uses. A `safe` write is dropped if
 * another worker has already written the status in a newer generation.
 */
export class StatusStore {
  readonly #log: RecordLog;
  readonly #logger: Logger;
  readonly #connectors = new Map<string, Status>();
  readonly #tasks = new Map<string, Map<number, Status>>();
  readonly #topics = new Map<string, Map<string, TopicStatus>>();
  readonly #listeners = new Set<() => void>();

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

  /** Adds a listener, which is called after each status that is read. Returns a function that removes the listener. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Resolves when all records that existed in the log at the time of the call have been applied. */
  async refresh(): Promise<void> {
    await this.#log.readToEnd();
  }

  connector(name: string): Status | undefined {
    return this.#connectors.get(name);
  }

  /** Statuses of the tasks, sorted by task number. */
  tasks(connector: string): readonly (readonly [number, Status])[] {
    return [...(this.#tasks.get(connector) ?? [])].sort(([a], [b]) => a - b);
  }

  task(id: TaskId): Status | undefined {
    return this.#tasks.get(id.connector)?.get(id.task);
  }

  /** Names of all connectors that have a status or a task with a status. */
  names(): string[] {
    return [...new Set([...this.#connectors.keys(), ...this.#tasks.keys()])];
  }

  /** The topics that a connector has used since the last reset. */
  topics(connector: string): readonly TopicStatus[] {
    return [...(this.#topics.get(connector)?.values() ?? [])];
  }

  hasTopic(connector: string, topic: string): boolean {
    return this.#topics.get(connector)?.has(topic) ?? false;
  }

  async putTopic(status: TopicStatus): Promise<void> {
    const { topic, connector, task, discoveredAtMs } = status;
    const record = { topic: { name: topic, connector, task, discoverTimestamp: discoveredAtMs } };
    await this.#log.send(topicKey(status), Buffer.from(JSON.stringify(record)));
  }

  /** Removes the topics of the connector. Resolves when this store no longer contains them. */
  async removeTopics(connector: string): Promise<void> {
    await this.#log.sendAll(this.topics(connector).map((status) => ({ key: topicKey(status), value: null })));
    await this.#log.readToEnd();
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

  /** Removes all statuses and topics of a deleted connector. Resolves when this store no longer contains them. */
  async removeConnector(name: string): Promise<void> {
    await this.#log.sendAll([
      { key: `status-connector-${name}`, value: null },
      ...this.tasks(name).map(([task]) => ({ key: `status-task-${name}-${String(task)}`, value: null })),
      ...this.topics(name).map((status) => ({ key: topicKey(status), value: null })),
    ]);
    await this.#log.readToEnd();
  }

  #onRecord(record: LogRecord): void {
    const key = Buffer.from(record.key).toString();
    try {
      if (key.startsWith(TOPIC_PREFIX)) {
        this.#applyTopic(key.slice(TOPIC_PREFIX.length), record.value);
        return;
      }
      const status = record.value === null ? null : parse(Buffer.from(record.value).toString());
      if (key.startsWith('status-connector-')) this.#applyConnector(key.slice('status-connector-'.length), status);
      else if (key.startsWith('status-task-')) this.#applyTask(key.slice('status-task-'.length), status);
    } catch (error) {
      this.#logger.error({ err: error }, `The status record ${key} cannot be read and is ignored`);
    }
    for (const listener of this.#listeners) listener();
  }

  #applyConnector(name: string, status: Status | null): void {
    if (status === null) this.#connectors.delete(name);
    else this.#connectors.set(name, status);
  }

  /** Parses `<topic>:connector-<connector>`. A topic name cannot contain a colon. */
  #applyTopic(rest: string, value: Uint8Array | null): void {
    const at = rest.indexOf(CONNECTOR_MARK);
    if (at < 1) throw new Error('it does not name a topic and a connector');
    const topic = rest.slice(0, at);
    const connector = rest.slice(at + CONNECTOR_MARK.length);
    let topics = this.#topics.get(connector);
    if (value === null) {
      topics?.delete(topic);
      if (topics?.size === 0) this.#topics.delete(connector);
      return;
    }
    const { topic: record } = JSON.parse(Buffer.from(value).toString()) as { topic?: Record<string, unknown> };
    if (topics === undefined) {
      topics = new Map();
      this.#topics.set(connector, topics);
    }
    const task = Number(record?.['task']);
    topics.set(topic, { topic, connector, task, discoveredAtMs: Number(record?.['discoverTimestamp']) });
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

const TOPIC_PREFIX = 'status-topic-';
const CONNECTOR_MARK = ':connector-';

function topicKey({ topic, connector }: TopicStatus): string {
  return `${TOPIC_PREFIX}${topic}${CONNECTOR_MARK}${connector}`;
}

/** Connect's rule for safe writes: a status may replace one of the same worker, or one of an older or equal generation. */
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
