import { topicPartitionKey } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import type { ConsumedRecord, Consumer } from '../../kafka/api.ts';
import type { ErrantRecordReporter, SinkTaskContext } from '../api.ts';
import type { TaskRuntime } from '../tasks/task-runner.ts';
import type { PolledRecords } from './polled-records.ts';
import type { DeliveredOffsets } from './delivered-offsets.ts';

/** The consumer of a sink task: a Kafka consumer, or the consumer of a replay, which reads the dead-letter topic. */
export type SinkConsumer = Omit<Consumer, 'assign' | 'poll' | 'paused' | 'committed' | 'endOffsets'>;

/** The consumer of a sink task and its progress. */
interface SinkReading {
  readonly consumer: SinkConsumer;
  readonly polled: PolledRecords;
  readonly delivery: DeliveredOffsets;
}

/** Creates the context of a sink task. */
export function sinkTaskContext(
  runtime: TaskRuntime,
  { consumer, polled, delivery }: SinkReading,
  requests: Pick<SinkTaskContext, 'retryAfterMs' | 'requestCommit'>,
): SinkTaskContext {
  const { assignment, errors, pluginLogger, abort, mayWork } = runtime;
  const errantRecords: ErrantRecordReporter = {
    tolerant: errors.tolerant,
    report: async (record, error) => {
      await errors.failed({
        stage: 'TASK_PUT',
        className: 'org.apache.kafka.connect.sink.SinkTask',
        error: toError(error),
        consumed: 'key' in record.consumed ? (record.consumed as ConsumedRecord) : undefined,
      });
    },
  };
  return {
    connectorName: assignment.id.connector,
    taskIndex: assignment.id.task,
    config: assignment.taskConfig,
    logger: pluginLogger,
    signal: abort.signal,
    mayWrite: mayWork,
    errantRecords,
    assignment: () => consumer.assignment(),
    position: (partition) => consumer.position(partition),
    hasMore: (partition) => consumer.hasMore(partition),
    identified: (offset) => consumer.identified(offset),
    kept: (offsets, signal) => consumer.kept(offsets, signal),
    seek: (offsets) => {
      const moved = new Map(offsets.map((each) => [topicPartitionKey(each.topic, each.partition), each] as const));
      polled.keep((key) => !moved.has(key));
      for (const offset of moved.values()) {
        consumer.seek(offset);
        delivery.sought(offset);
      }
    },
    ...requests,
  };
}
