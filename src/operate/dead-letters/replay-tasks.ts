import type { ReplayAssignment } from '../../connect/dead-letters/replay-assignment.ts';
import { SinkRecordConverter } from '../../connect/pipeline/record-converter.ts';
import { SinkTaskRunner } from '../../connect/sink/sink-task-runner.ts';
import type { BuiltTask, TaskBuilder } from '../../connect/tasks/built-task.ts';
import type { TaskAssignment, TaskEvent } from '../../connect/task-assignment.ts';
import type { FixedProperties, TaskClients } from '../../connect/tasks/task-clients.ts';
import { withRunner, type TaskFactory } from '../../connect/hosting/task-factory.ts';
import type { TaskMeasures } from '../../connect/tasks/task-measures.ts';
import type { TaskRuntime } from '../../connect/tasks/task-runner.ts';
import { ConfigError } from '../../errors.ts';
import { SelectionMatcher } from './selection-matcher.ts';
import { deadLetterTopic } from './dead-letter-reader.ts';
import { ReplayConsumer } from './replay-consumer.ts';
import { ReplayCounts } from './replay-counts.ts';
import { ReplayFailures } from './replay-failures.ts';

/** Interval of offset commits, in addition to the commits that the sink requests. */
const COMMIT_MS = 1000;

/**
 * Builds the tasks of replays, which are sink tasks that read the dead-letter topic. The wrapped factory builds all
 * other tasks.
 */
export class ReplayTasks implements TaskBuilder {
  readonly #factory: TaskFactory;
  readonly #clients: Pick<TaskClients, 'sinkConsumer'>;

  constructor(factory: TaskFactory, clients: Pick<TaskClients, 'sinkConsumer'>) {
    this.#factory = factory;
    this.#clients = clients;
  }

  async build(
    assignment: TaskAssignment,
    measures: TaskMeasures,
    onEvent: (event: TaskEvent) => void,
  ): Promise<BuiltTask> {
    const { id, replay, connectorConfig } = assignment;
    if (replay === undefined) return this.#factory.build(assignment, measures, onEvent);
    if (deadLetterTopic(connectorConfig) === undefined) {
      throw new ConfigError(`Connector ${id.connector} has no dead-letter topic any more`);
    }
    const counts = new ReplayCounts(replay.partitions, (progress) => {
      onEvent({ id, state: 'REPLAYED', progress });
    });
    const prepared = await this.#factory.prepare(
      assignment,
      measures,
      onEvent,
      (deadLetters) => new ReplayFailures(replay.group, counts, deadLetters),
    );
    const onDropped: TaskRuntime['onDropped'] = (record) => {
      counts.dropped(record);
    };
    return withRunner(prepared, (runtime) =>
      this.#runner({ ...runtime, offsetFlushIntervalMs: COMMIT_MS, onDropped }, replay, counts),
    );
  }

  async #runner(runtime: TaskRuntime, replay: ReplayAssignment, counts: ReplayCounts): Promise<SinkTaskRunner> {
    const { assignment, converters, chain, errors, place, onDropped } = runtime;
    const { id, connectorConfig } = assignment;
    const task = this.#factory.sinkTask(connectorConfig);
    const converter = new SinkRecordConverter(converters, chain, errors, place, onDropped);
    const consumer = new ReplayConsumer({
      consumer: await this.#clients.sinkConsumer(id, connectorConfig, ownGroup(replay)),
      matcher: new SelectionMatcher(id.connector, replay.selection),
      counts,
      recount: chain.empty ? undefined : (record) => converter.convertOne(record),
      onComplete: () => {
        runner.stop();
      },
    });
    const runner = new SinkTaskRunner(runtime, task, consumer, [replay.topic]);
    return runner;
  }
}

/**
 * Properties of the consumer of a replay. A replay has a group of its own, which has no offsets at first. A
 * `group.instance.id` applies only to the connector's group.
 */
function ownGroup({ group }: ReplayAssignment): FixedProperties {
  return { 'group.id': group, 'auto.offset.reset': 'earliest', 'group.instance.id': undefined };
}
