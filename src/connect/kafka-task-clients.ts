import { withPrefix } from '../config/worker-config.ts';
import { createKafkaClient } from '../kafka/client.ts';
import type { Admin, ClientProperties, Consumer, Producer } from '../kafka/api.ts';
import type { Logger } from '../observe/logger.ts';
import type { ConnectorConfig } from './api.ts';
import { taskText, type TaskId } from './task-assignment.ts';
import type { TaskClients } from './task-clients.ts';

/** The worker's `consumer.*`, `producer.*` and `admin.*` settings, each with what that kind of client inherits. */
export interface ClientDefaults {
  readonly consumer: ClientProperties;
  readonly producer: ClientProperties;
  readonly admin: ClientProperties;
}

/** Clients of tasks with Connect's own settings (reference/kafka-connect.md 4.1 to 4.3), then the worker's, then overrides. */
export class KafkaTaskClients implements TaskClients {
  readonly #defaults: ClientDefaults;
  readonly #logger: Logger;

  constructor(defaults: ClientDefaults, logger: Logger) {
    this.#defaults = defaults;
    this.#logger = logger;
  }

  sinkConsumer(id: TaskId, config: ConnectorConfig): Consumer {
    const own = {
      'group.id': `connect-${id.connector}`,
      'client.id': `connector-consumer-${taskText(id)}`,
      'auto.offset.reset': 'earliest',
    };
    const properties = { ...own, ...this.#defaults.consumer, ...withPrefix(config, 'consumer.override.') };
    return createKafkaClient(properties, this.#loggerOf(id)).consumer();
  }

  sourceProducer(id: TaskId, config: ConnectorConfig): Producer {
    return this.#producer(id, config, `connector-producer-${taskText(id)}`);
  }

  deadLetterProducer(id: TaskId, config: ConnectorConfig): Producer {
    return this.#producer(id, config, `connector-dlq-producer-${taskText(id)}`);
  }

  admin(connector: string, config: ConnectorConfig): Admin {
    const own = { 'client.id': `connector-adminclient-${connector}` };
    const properties = { ...own, ...this.#defaults.admin, ...withPrefix(config, 'admin.override.') };
    return createKafkaClient(properties, this.#logger.child({ connector })).admin();
  }

  #producer(id: TaskId, config: ConnectorConfig, clientId: string): Producer {
    const own = { 'client.id': clientId, acks: 'all' };
    const properties = { ...own, ...this.#defaults.producer, ...withPrefix(config, 'producer.override.') };
    return createKafkaClient(properties, this.#loggerOf(id)).producer();
  }

  #loggerOf(id: TaskId): Logger {
    return this.#logger.child({ connector: id.connector, task: id.task });
  }
}
