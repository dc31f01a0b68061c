import { javaTrace, SluiceError } from '../../errors.ts';
import type { Admin, Producer } from '../../kafka/api.ts';
import type { Logger } from '../../observe/logger.ts';
import type { FailureContext, FailureReporter } from './error-policy.ts';
import { failurePlace } from './failure-place.ts';
import type { TaskId } from '../task-assignment.ts';

export interface DeadLetterOptions {
  readonly topic: string;
  readonly replicationFactor: number;
  readonly contextHeaders: boolean;
  /** Removes secrets from the values of context headers. */
  readonly hide: (text: string) => string;
}

/** Counts for metrics. */
export interface DeadLetterCounts {
  readonly produceRequests: number;
  readonly produceFailures: number;
}

const PREFIX = '__connect.errors.';
/**
 * Prefix of headers that Kafka Connect does not have: `sluice.timestamp`, `sluice.timestamp.type`, `sluice.sqlstate`,
 * `sluice.table`, `sluice.column`.
 */
const OWN_PREFIX = 'sluice.';

/**
 * Writes failed records to the dead-letter topic, byte for byte as they were consumed
 * (org.apache.kafka.connect.runtime.errors.DeadLetterQueueReporter). If the topic does not exist, it is created with one
 * partition.
 */
export class DeadLetterQueue implements FailureReporter, DeadLetterCounts {
  readonly #id: TaskId;
  readonly #options: DeadLetterOptions;
  readonly #producer: Producer;
  readonly #logger: Logger;
  produceRequests = 0;
  produceFailures = 0;

  private constructor(id: TaskId, options: DeadLetterOptions, producer: Producer, logger: Logger) {
    this.#id = id;
    this.#options = options;
    this.#producer = producer;
    this.#logger = logger;
  }

  static async open(
    id: TaskId,
    options: DeadLetterOptions,
    clients: { readonly admin: Admin; readonly producer: Producer },
    logger: Logger,
  ): Promise<DeadLetterQueue> {
    const existing = await clients.admin.describeTopics([options.topic]);
    if (!existing.has(options.topic)) {
      await clients.admin.createTopic({
        name: options.topic,
        partitions: 1,
        replicationFactor: options.replicationFactor,
        settings: {},
      });
    }
    try {
      await clients.producer.connect();
    } catch (error) {
      await clients.producer.close();
      throw error;
    }
    return new DeadLetterQueue(id, options, clients.producer, logger);
  }

  async report(failure: FailureContext): Promise<void> {
    const { consumed, additionalHeaders = [] } = failure;
    if (consumed === undefined) return;
    this.produceRequests++;
    const context = [...(this.#options.contextHeaders ? this.#contextHeaders(failure) : []), ...additionalHeaders];
    try {
      await this.#producer.send([
        {
          topic: this.#options.topic,
          partition: null,
          key: consumed.key,
          value: consumed.value,
          timestamp: consumed.timestamp < 0 ? null : consumed.timestamp,
          headers: [...consumed.headers, ...context],
        },
      ]);
    } catch (error) {
      this.produceFailures++;
      this.#logger.error(
        { err: error },
        `Could not write the record at topic ${consumed.topic}, partition ${String(consumed.partition)}, offset ${String(consumed.offset)} to the dead-letter topic ${this.#options.topic}`,
      );
      if (failure.stage === 'TASK_PUT') throw error;
    }
  }

  async close(): Promise<void> {
    await this.#producer.close();
  }

  #contextHeaders({ stage, className, error, consumed, task }: FailureContext): { key: string; value: Buffer }[] {
    const entries: [string, string][] = [
      ['topic', consumed?.topic ?? ''],
      ['partition', String(consumed?.partition)],
      ['offset', String(consumed?.offset)],
      ['connector.name', this.#id.connector],
      ['task.id', String(task ?? this.#id.task)],
      ['stage', stage],
      ['class.name', className],
      ['exception.class.name', error instanceof SluiceError ? error.javaName : 'java.lang.RuntimeException'],
      ['exception.message', this.#options.hide(error.message)],
      ['exception.stacktrace', this.#options.hide(javaTrace(error))],
    ];
    const own = [...timestampHeaders(consumed), ...Object.entries(failurePlace(error))] as [
      string,
      string | undefined,
    ][];
    return [
      ...entries.map(([key, value]) => ({ key: PREFIX + key, value: Buffer.from(value) })),
      ...own.flatMap(([key, value]) =>
        value === undefined ? [] : [{ key: OWN_PREFIX + key, value: Buffer.from(this.#options.hide(value)) }],
      ),
    ];
  }
}

/**
 * Headers with the timestamp of the record, which is otherwise lost in a dead-letter topic with
 * `message.timestamp.type=LogAppendTime`.
 */
function timestampHeaders(consumed: FailureContext['consumed']): [string, string][] {
  if (consumed === undefined) return [];
  const { timestamp, timestampType } = consumed;
  const type: [string, string][] = timestampType === 'CreateTime' ? [] : [['timestamp.type', timestampType]];
  return [['timestamp', String(timestamp)], ...type];
}
