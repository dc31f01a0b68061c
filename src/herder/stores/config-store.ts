import type { ConnectorConfig } from '../../connect/api.ts';
import type { TargetState } from '../../connect/task-assignment.ts';
import { RequestError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ConfigListener, ConnectorState, RestartRequest, SessionKey } from './config-state.ts';
import { ConfigRecords, configRecord, type ConfigChange } from './config-records.ts';
import type { LeaderWriter } from './leader-writer.ts';
import type { LogRecord, OpenRecordLog, RecordLog } from './record-log.ts';

interface Write {
  readonly key: string;
  readonly value: string | null;
}

/**
 * Stores which connectors and tasks should run. Every write is appended to the log and is applied when it is read back. When a
 * `put…` or `remove…` call has resolved, the state of the store includes the change.
 */
export class ConfigStore {
  readonly #records = new ConfigRecords();
  readonly #log: RecordLog;
  readonly #logger: Logger;
  readonly #leaderWriter: LeaderWriter | undefined;
  #listener: ConfigListener | undefined;
  #offset = -1;
  /** Offset of the last record that changed the configuration or the target state of a connector, by connector name. */
  readonly #changedAt = new Map<string, number>();

  /** `leaderWriter` writes the records that only the leader may write. It is set if earlier leaders must be fenced. */
  constructor(open: OpenRecordLog, logger: Logger, leaderWriter?: LeaderWriter) {
    this.#log = open((record) => {
      this.#onRecord(record);
    });
    this.#logger = logger;
    this.#leaderWriter = leaderWriter;
  }

  /** Reads all existing records. After that, the listener is called for each change. */
  async start(listener: ConfigListener): Promise<void> {
    await this.#log.start();
    this.#logger.debug({ configOffset: this.#offset }, 'Read the config topic to its end');
    this.#listener = listener;
  }

  async stop(): Promise<void> {
    await Promise.all([this.#log.stop(), this.#leaderWriter?.release()]);
  }

  /** Called on the leader. Fences earlier leaders. */
  async lead(): Promise<void> {
    await this.#leaderWriter?.claim();
  }

  async follow(): Promise<void> {
    await this.#leaderWriter?.release();
  }

  /** Resolves when all records that existed in the log at the time of the call have been applied. */
  async refresh(): Promise<void> {
    await this.#log.readToEnd();
  }

  /** The offset after the last applied record; -1 if no record has been applied (KafkaConfigBackingStore#snapshot). */
  get offset(): number {
    return this.#offset;
  }

  /**
   * Returns the offset of the last record that changed the configuration or the target state of a connector;
   * `undefined` if there is no such record or the log is not a topic.
   */
  changedAt(name: string): number | undefined {
    return this.#changedAt.get(name);
  }

  names(): string[] {
    return this.#records.names();
  }

  connector(name: string): ConnectorState | undefined {
    return this.#records.connector(name);
  }

  /** @throws RequestError with status 404 and this message if the connector does not exist */
  require(name: string, message = `Connector ${name} not found`): ConnectorState {
    const state = this.#records.connector(name);
    if (state === undefined) throw new RequestError(404, message);
    return state;
  }

  /** Also returned for deleted connectors. */
  taskCountRecord(name: string): number | undefined {
    return this.#records.taskCountRecord(name);
  }

  /** Writes a connector configuration. The record of an initial state is written first, as in Connect. */
  async putConnector(name: string, config: ConnectorConfig, initialState?: TargetState): Promise<void> {
    const connector = { key: `connector-${name}`, value: configRecord.properties(config) };
    const target = initialState && { key: `target-state-${name}`, value: configRecord.targetState(initialState) };
    await this.#writeAsLeader(target === undefined ? [connector] : [target, connector]);
  }

  async removeConnector(name: string): Promise<void> {
    await this.#writeAsLeader([
      { key: `connector-${name}`, value: null },
      { key: `target-state-${name}`, value: null },
    ]);
  }

  async putTargetState(name: string, state: TargetState): Promise<void> {
    await this.#write([{ key: `target-state-${name}`, value: configRecord.targetState(state) }]);
  }

  async putTaskConfigs(name: string, configs: readonly ConnectorConfig[]): Promise<void> {
    await this.#writeAsLeader([
      ...configs.map((config, task) => ({
        key: `task-${name}-${String(task)}`,
        value: configRecord.properties(config),
      })),
      { key: `commit-${name}`, value: configRecord.commit(configs.length) },
    ]);
  }

  /** Records that earlier tasks have been fenced, and how many tasks the next fencing must cover. */
  async putTaskCount(name: string, tasks: number): Promise<void> {
    await this.#writeAsLeader([{ key: `tasks-fencing-${name}`, value: configRecord.taskCount(tasks) }]);
  }

  async putRestartRequest(request: RestartRequest): Promise<void> {
    await this.#writeAsLeader([
      { key: `restart-connector-${request.connector}`, value: configRecord.restart(request) },
    ]);
  }

  async putLoggerLevel(logger: string, level: string): Promise<void> {
    await this.#write([{ key: `logger-cluster-${logger}`, value: configRecord.loggerLevel(level) }]);
  }

  async putSessionKey(key: SessionKey): Promise<void> {
    await this.#writeAsLeader([{ key: 'session-key', value: configRecord.sessionKey(key) }]);
  }

  get sessionKey(): SessionKey | undefined {
    return this.#records.sessionKey;
  }

  async #write(writes: readonly Write[]): Promise<void> {
    await this.#log.sendAll(recordsOf(writes));
    await this.#log.readToEnd();
  }

  async #writeAsLeader(writes: readonly Write[]): Promise<void> {
    if (this.#leaderWriter === undefined) {
      await this.#write(writes);
      return;
    }
    await this.#leaderWriter.write(recordsOf(writes));
    await this.#log.readToEnd();
  }

  #onRecord(record: LogRecord): void {
    const key = Buffer.from(record.key).toString();
    if (record.offset !== undefined) this.#offset = record.offset + 1;
    let change: ConfigChange;
    try {
      change = this.#records.apply(key, record.value === null ? null : Buffer.from(record.value).toString());
    } catch (error) {
      this.#logger.error({ err: error }, `The config record ${key} cannot be read and is ignored`);
      return;
    }
    if (record.offset !== undefined && isOfConnector(change)) this.#changedAt.set(change.connector, record.offset);
    if (this.#listener === undefined) return;
    const connector = 'connector' in change ? change.connector : undefined;
    this.#logger.debug({ connector, key, offset: record.offset, change: change.kind }, 'Read a config record');
    if (change.kind === 'session-key') this.#logger.info('Session key updated');
    else notify(this.#listener, change);
  }
}

function isOfConnector(change: ConfigChange): change is Extract<ConfigChange, { connector: string }> {
  return change.kind === 'connector' || change.kind === 'removed' || change.kind === 'target-state';
}

function recordsOf(writes: readonly Write[]): { key: string; value: Buffer | null }[] {
  return writes.map(({ key, value }) => ({ key, value: value === null ? null : Buffer.from(value) }));
}

function notify(listener: ConfigListener, change: Exclude<ConfigChange, { kind: 'session-key' }>): void {
  switch (change.kind) {
    case 'connector':
    case 'removed':
    case 'tasks':
      listener.workChanged(change.connector);
      break;
    case 'target-state':
      listener.targetStateChanged(change.connector);
      break;
    case 'restart':
      listener.restartRequested(change.request);
      break;
    case 'logger':
      listener.loggerLevelChanged(change.logger, change.level);
      break;
    case 'fenced':
    case 'none':
      break;
  }
}
