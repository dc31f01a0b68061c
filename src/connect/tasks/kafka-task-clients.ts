import { overrideError, type OverridePolicy } from '../../config/override-policy.ts';
import { withPrefix } from '../../config/worker-config.ts';
import { ConnectError } from '../../errors.ts';
import { createKafkaClient } from '../../kafka/client/client.ts';
import { INSTANCE_ID, MEMBER_OWNER, PROTOCOL } from '../../kafka/config/consumer-config.ts';
import type { Admin, ClientProperties, Consumer, Producer, TransactionalProducer } from '../../kafka/api.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ConnectorConfig } from '../api.ts';
import { taskText, type TaskId } from '../task-assignment.ts';
import type { FixedProperties, TaskClients } from './task-clients.ts';

/**
 * The worker's client properties without their prefixes. Consumers and producers inherit only `bootstrap.servers` from
 * the worker's unprefixed client properties, whereas admin clients inherit all of these.
 */
export interface ClientDefaults {
  readonly consumer: ClientProperties;
  readonly producer: ClientProperties;
  readonly admin: ClientProperties;
}

/**
 * Heartbeat interval of the classic protocol. Members notice a rebalance when a heartbeat is answered. With the client's default
 * interval of 3 s, each move of a task would therefore take up to 3 s.
 */
const HEARTBEAT_MS = '1000';
const KAFKA_LOGGER = 'org.apache.kafka.clients';

/**
 * Opens the clients of tasks with Connect's defaults, then the worker's settings, then the connector's overrides. Later settings
 * take precedence.
 */
export class KafkaTaskClients implements TaskClients {
  readonly #defaults: ClientDefaults;
  readonly #policy: OverridePolicy;
  readonly #owner: () => Promise<string>;
  readonly #logger: Logger;

  /**
   * `owner` resolves with an id of the workers that share these tasks. Only one of these workers runs a task at a time.
   */
  constructor(defaults: ClientDefaults, policy: OverridePolicy, owner: () => Promise<string>, logger: Logger) {
    this.#defaults = defaults;
    this.#policy = policy;
    this.#owner = owner;
    this.#logger = logger;
  }

  async sinkConsumer(id: TaskId, config: ConnectorConfig, fixed: FixedProperties = {}): Promise<Consumer> {
    const own = {
      'group.id': `connect-${id.connector}`,
      'client.id': `connector-consumer-${taskText(id)}`,
      'auto.offset.reset': 'earliest',
    };
    const given = { ...this.#defaults.consumer, ...this.#overrides(config, 'consumer') };
    const isClassic = (given[PROTOCOL] ?? 'classic').trim().toLowerCase() === 'classic';
    const heartbeats: ClientProperties = isClassic ? { 'heartbeat.interval.ms': HEARTBEAT_MS } : {};
    // The default client id is unique to this task. A group member with this client id and owner is therefore stale.
    const owner: ClientProperties = given['client.id'] === undefined ? { [MEMBER_OWNER]: await this.#owner() } : {};
    const all = {
      ...own,
      ...heartbeats,
      ...given,
      ...owner,
      ...staticMember(given, id, config),
      ...fixed,
    };
    const set = Object.entries(all).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
    return createKafkaClient(Object.fromEntries(set), this.#loggerOf(id)).consumer();
  }

  sourceProducer(id: TaskId, config: ConnectorConfig): Producer {
    return createKafkaClient(this.#sourceProperties(id, config), this.#loggerOf(id)).producer();
  }

  sourceTransactions(id: TaskId, config: ConnectorConfig, transactionalId: string): TransactionalProducer {
    const logger = this.#loggerOf(id);
    const given = this.#sourceProperties(id, config);
    const fixed = { 'enable.idempotence': 'true', 'transactional.id': transactionalId };
    for (const [name, value] of Object.entries(fixed)) {
      const other = given[name];
      if (other === undefined || other.trim().toLowerCase() === value.toLowerCase()) continue;
      logger.warn(
        `The value '${other}' for the '${name}' property will be ignored as it cannot be overridden for connectors when exactly-once source support is enabled. The value '${value}' will be used instead.`,
      );
    }
    return createKafkaClient({ ...given, ...fixed }, logger).transactionalProducer();
  }

  deadLetterProducer(id: TaskId, config: ConnectorConfig): Producer {
    return this.#producer(id, config, `connector-dlq-producer-${taskText(id)}`);
  }

  admin(connector: string, config: ConnectorConfig): Admin {
    const own = { 'client.id': `connector-adminclient-${connector}` };
    const properties = { ...own, ...this.#defaults.admin, ...this.#overrides(config, 'admin') };
    return createKafkaClient(properties, this.#logger.child({ connector, logger: KAFKA_LOGGER })).admin();
  }

  /** Source producers retry without a limit (org.apache.kafka.connect.runtime.Worker#baseProducerConfigs). */
  #sourceProperties(id: TaskId, config: ConnectorConfig): ClientProperties {
    const own = {
      'client.id': `connector-producer-${taskText(id)}`,
      acks: 'all',
      'max.block.ms': '9223372036854775807',
      'delivery.timeout.ms': '2147483647',
    };
    return { ...own, ...this.#defaults.producer, ...this.#overrides(config, 'producer') };
  }

  #producer(id: TaskId, config: ConnectorConfig, clientId: string): Producer {
    const own = { 'client.id': clientId, acks: 'all' };
    const properties = { ...own, ...this.#defaults.producer, ...this.#overrides(config, 'producer') };
    return createKafkaClient(properties, this.#loggerOf(id)).producer();
  }

  /**
   * Returns the overrides of the connector. Forbidden overrides fail the task, because the config topic may contain a
   * configuration that was not validated.
   */
  #overrides(config: ConnectorConfig, kind: 'consumer' | 'producer' | 'admin'): Record<string, string> {
    const overrides = withPrefix(config, `${kind}.override.`);
    const errors = Object.keys(overrides).flatMap((setting) => overrideError(this.#policy, setting) ?? []);
    if (errors.length > 0) throw new ConnectError(`Client Config Overrides not allowed: ${errors.join(' ')}`);
    return overrides;
  }

  #loggerOf(id: TaskId): Logger {
    return this.#logger.child({ connector: id.connector, task: id.task, logger: KAFKA_LOGGER });
  }
}

/**
 * With `tasks.max` above 1, appends the task number to a configured `group.instance.id`, because the tasks of a connector are
 * members of the same group.
 * @internal
 */
export function staticMember(
  given: Readonly<Record<string, string>>,
  { task }: Pick<TaskId, 'task'>,
  config: ConnectorConfig,
): ClientProperties {
  const instanceId = given[INSTANCE_ID]?.trim() ?? '';
  if (instanceId === '' || !(Number(config['tasks.max'] ?? 1) > 1)) return {};
  return { [INSTANCE_ID]: `${instanceId}-${String(task)}` };
}
