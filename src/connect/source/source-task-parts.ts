import { sourceConnectorOptions } from '../../config/connector-options.ts';
import { parseOptions } from '../../config/parse.ts';
import { AcknowledgedDelivery } from './acknowledged-delivery.ts';
import type { ConnectorConfig, SourceTask } from '../api.ts';
import type { OpenOffsets, StoredOffset } from './offset-storage.ts';
import { ConnectError } from '../../errors.ts';
import { SourceTaskRunner, type OpenDelivery } from './source-task-runner.ts';
import type { TaskId } from '../task-assignment.ts';
import type { TaskClients } from '../tasks/task-clients.ts';
import type { TaskRuntime } from '../tasks/task-runner.ts';
import { TransactionDelivery, type TransactionBoundary } from './transaction-delivery.ts';
import { TransactionRequests } from './transaction-requests.ts';
import type { TopicCreator } from './topic-creator.ts';

/** Functions that a worker with exactly-once delivery provides to its source tasks. */
export interface ExactlyOnceSources {
  /**
   * Returns the transactional id of a task. It is the same in each generation, so that the next generation fences the previous
   * one.
   */
  transactionalId(id: TaskId): string;
  /** Resolves when tasks of earlier generations can no longer write. */
  fenceZombies(connector: string): Promise<void>;
}

/** Builds the runner of a source task with the delivery that the worker and the connector configure. */
export function sourceTaskRunner(
  runtime: TaskRuntime,
  task: SourceTask,
  parts: {
    readonly clients: TaskClients;
    readonly offsets: OpenOffsets;
    readonly topics: TopicCreator;
    readonly exactlyOnce: ExactlyOnceSources | undefined;
  },
): SourceTaskRunner {
  const { clients, offsets, topics, exactlyOnce } = parts;
  const { id, connectorConfig: config } = runtime.assignment;
  const { storage } = offsets;
  if (exactlyOnce === undefined) {
    const producer = clients.sourceProducer(id, config);
    const delivery: OpenDelivery = (onFailure) =>
      new AcknowledgedDelivery(runtime, task, { producer, storage }, onFailure);
    return new SourceTaskRunner(runtime, task, delivery, offsets, topics);
  }
  const { topic } = offsets;
  if (topic === undefined)
    throw new ConnectError('Exactly-once delivery needs source offsets that are stored in a topic');
  const boundary = transactionBoundary(config, runtime.offsetFlushIntervalMs);
  const transactionParts = {
    producer: clients.sourceTransactions(id, config, exactlyOnce.transactionalId(id)),
    offsets: { ...topic, committed: (stored: readonly StoredOffset[]) => offsets.committed(stored) },
    boundary,
    fenceZombies: () => exactlyOnce.fenceZombies(id.connector),
  };
  const delivery: OpenDelivery = (onFailure) => new TransactionDelivery(runtime, task, transactionParts, onFailure);
  return new SourceTaskRunner(runtime, task, delivery, offsets, topics);
}

function transactionBoundary(config: ConnectorConfig, offsetFlushIntervalMs: number): TransactionBoundary {
  const options = parseOptions(sourceConnectorOptions, config);
  const kind = options['transaction.boundary'].toLowerCase();
  if (kind === 'connector') return { kind, requests: new TransactionRequests() };
  if (kind !== 'interval') return { kind: 'poll' };
  const intervalMs = options['transaction.boundary.interval.ms'];
  return { kind, intervalMs: intervalMs === null ? offsetFlushIntervalMs : Number(intervalMs) };
}
