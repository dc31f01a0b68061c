import type { Logger } from '../../observe/logger.ts';
import { workPlaces } from '../../observe/work-place.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import { javaRegexMatcher } from '../../java/java-regex.ts';
import { listEntries } from '../../config/list-text.ts';
import { parseOptions } from '../../config/parse.ts';
import { rateLimitOf } from '../../config/rate-limit-options.ts';
import { commonConnectorOptions, sinkConnectorOptions } from '../../config/connector-options.ts';
import type { ClientProperties, TopicPredicate } from '../../kafka/api.ts';
import type { ConnectorConfig } from '../api.ts';
import { transformationChain } from '../pipeline/chain-builder.ts';
import { buildConverters, withDefaultConverters } from '../pipeline/converter-builder.ts';
import { DeadLetterQueue } from '../pipeline/dead-letter-queue.ts';
import { RecentFaults } from '../pipeline/recent-faults.ts';
import { ErrorPolicy } from '../pipeline/error-policy.ts';
import type { SourceOffsets } from '../source/offset-storage.ts';
import type { PluginRegistry } from '../plugins/plugin-registry.ts';
import { wantedVersion } from '../plugins/plugins-of-config.ts';
import { LetterReplay, type ReplaySurroundings } from '../dead-letters/letter-replay.ts';
import type { ReplayAssignment } from '../dead-letters/replay-assignment.ts';
import { ReplayConsumer } from '../dead-letters/replay-consumer.ts';
import { ReplayFailures } from '../dead-letters/replay-failures.ts';
import { SinkTaskRunner } from '../sink/sink-task-runner.ts';
import type { ReplayedLetters } from '../sink/task-records.ts';
import { sourceTaskRunner, type ExactlyOnceSources } from '../source/source-task-parts.ts';
import type { BuiltTask } from './built-task.ts';
import { taskText, type TaskAssignment, type TaskEvent, type TaskId } from './task-assignment.ts';
import type { TaskClients } from './task-clients.ts';
import type { TaskMeasures } from './task-measures.ts';
import { pluginMetrics } from './task-metrics.ts';
import type { TaskRunner, TaskRuntime } from './task-runner.ts';
import { Throttle } from '../pipeline/throttle.ts';
import { TopicCreator } from '../source/topic-creator.ts';

/** How often the progress of a replay is known, besides when the sink asks for it. */
const REPLAY_COMMIT_MS = 1000;

/** What the worker's own configuration gives to every task. */
export interface TaskDefaults {
  readonly offsetFlushIntervalMs: number;
  readonly offsetFlushTimeoutMs: number;
  readonly topicCreationEnabled: boolean;
  /** Where source tasks write in transactions (`exactly.once.source.support=enabled`). */
  readonly exactlyOnce?: ExactlyOnceSources | undefined;
  /** `key.converter`, `value.converter`, `header.converter` and their sub-keys, as in the worker's file. */
  readonly converterConfig: ConnectorConfig;
}

export interface TaskFactoryDependencies {
  /** False when others may have this worker's tasks. */
  readonly mayWork: () => boolean;
  readonly plugins: PluginRegistry;
  readonly clients: TaskClients;
  readonly offsets: SourceOffsets;
  readonly defaults: TaskDefaults;
  /** What dead letters may not show. */
  readonly secrets: SecretMask;
  readonly logger: Logger;
}

/** Builds the runner of a task from its assignment: converters, transforms, error policy, clients, the task itself. */
export class TaskFactory {
  readonly #dependencies: TaskFactoryDependencies;

  constructor(dependencies: TaskFactoryDependencies) {
    this.#dependencies = dependencies;
  }

  async build(
    assignment: TaskAssignment,
    measures: TaskMeasures,
    onEvent: (event: TaskEvent) => void,
  ): Promise<BuiltTask> {
    const { id, connectorConfig: config } = assignment;
    const { defaults } = this.#dependencies;
    const ids = { connector: id.connector, task: id.task };
    const runtimeClass = assignment.type === 'sink' ? 'WorkerSinkTask' : 'WorkerSourceTask';
    const logger = this.#dependencies.logger.child({
      ...ids,
      logger: `org.apache.kafka.connect.runtime.${runtimeClass}`,
    });
    const abort = new AbortController();
    const convertersConfig = withDefaultConverters(config, defaults.converterConfig);
    await this.#dependencies.plugins.prepare(convertersConfig);
    const converters = buildConverters(convertersConfig, this.#dependencies.plugins);
    abort.signal.addEventListener('abort', () => {
      for (const converter of [converters.key, converters.value]) {
        try {
          converter.close?.();
        } catch (error) {
          logger.warn({ err: error }, 'A converter could not be closed');
        }
      }
    });
    const { replay } = assignment;
    const chain = transformationChain(
      replay?.hasOwnChain === true ? assignment.taskConfig : config,
      this.#dependencies.plugins,
    );
    const [deadLetters] = assignment.type === 'sink' ? await this.#deadLetters(assignment, logger) : [];
    const faults = new RecentFaults(id.task, (text) => this.#dependencies.secrets.hide(text));
    const limit =
      replay === undefined ? rateLimitOf(config, assignment.tasks) : { records: replay.rate, bytes: undefined };
    const throttle = new Throttle(limit);
    const replayed =
      replay &&
      deadLetters &&
      replayedLetters(id, replay, deadLetters, {
        throttle,
        onProgress: (progress) => {
          onEvent({ id, state: 'REPLAYED', progress });
        },
      });
    const reporters = deadLetters === undefined ? [faults] : [faults, replayed?.failures ?? deadLetters];
    const options = errorOptions(replay === undefined ? config : { ...config, 'errors.tolerance': 'all' });
    const errors = new ErrorPolicy(taskText(id), options, reporters, logger, abort.signal);
    const { offsetFlushIntervalMs, offsetFlushTimeoutMs } = defaults;
    const runtime: TaskRuntime = {
      assignment,
      converters,
      chain,
      errors,
      logger,
      pluginLogger: this.#dependencies.logger.child({ ...ids, logger: assignment.taskConfig['task.class'] ?? '' }),
      abort,
      onEvent,
      mayWork: this.#dependencies.mayWork,
      offsetFlushIntervalMs: replay === undefined ? offsetFlushIntervalMs : REPLAY_COMMIT_MS,
      offsetFlushTimeoutMs,
      measures,
      place: workPlaces.open(taskText(id)),
      throttle,
    };
    const made = pluginMetrics(assignment, converters, convertersConfig, this.#dependencies.plugins);
    return { runner: await this.#runner(runtime, replayed), errors: errors.counts, deadLetters, faults, plugins: made };
  }

  async #runner(runtime: TaskRuntime, replayed: ReplayedLetters | undefined): Promise<TaskRunner> {
    const { id, connectorConfig: config, replay } = runtime.assignment;
    const { plugins, clients, offsets, defaults } = this.#dependencies;
    const wanted = wantedVersion(config, 'connector.plugin.version');
    const plugin = plugins.find('connector', config['connector.class'] ?? '', wanted);
    if (plugin.type === 'sink') {
      if (replay !== undefined && replayed !== undefined) {
        const reader = await clients.sinkConsumer(id, config, groupOfReplay(replay));
        const consumer = new ReplayConsumer(reader, replayed.replay);
        return new SinkTaskRunner(runtime, plugin.createTask(), consumer, replayed.replay.topics, replayed);
      }
      const consumer = await clients.sinkConsumer(id, config);
      return new SinkTaskRunner(runtime, plugin.createTask(), consumer, subscription(config));
    }
    const admin = () => clients.admin(id.connector, config);
    const topics = new TopicCreator(config, defaults.topicCreationEnabled, admin, runtime.logger);
    const opened = await offsets.open(id.connector, config);
    try {
      const parts = { clients, offsets: opened, topics, exactlyOnce: defaults.exactlyOnce };
      return sourceTaskRunner(runtime, plugin.createTask(), parts);
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  async #deadLetters(assignment: TaskAssignment, logger: Logger): Promise<DeadLetterQueue[]> {
    const { id, connectorConfig: config } = assignment;
    const options = parseOptions(sinkConnectorOptions, config);
    const topic = options['errors.deadletterqueue.topic.name'];
    if (topic === '') return [];
    const { clients } = this.#dependencies;
    const admin = clients.admin(id.connector, config);
    try {
      const queue = await DeadLetterQueue.open(
        id,
        {
          topic,
          replicationFactor: options['errors.deadletterqueue.topic.replication.factor'],
          contextHeaders: options['errors.deadletterqueue.context.headers.enable'],
          hide: (text) => this.#dependencies.secrets.hide(text),
        },
        { admin, producer: clients.deadLetterProducer(id, config) },
        logger,
      );
      return [queue];
    } finally {
      await admin.close();
    }
  }
}

function replayedLetters(
  id: TaskId,
  replay: ReplayAssignment,
  deadLetters: DeadLetterQueue,
  surroundings: ReplaySurroundings,
): ReplayedLetters {
  const letters = new LetterReplay(id.connector, replay, surroundings);
  return { replay: letters, failures: new ReplayFailures(letters, deadLetters) };
}

/** The consumer of a replay has a group of its own, which has no offsets at first. */
function groupOfReplay({ group }: ReplayAssignment): ClientProperties {
  return { 'group.id': group, 'auto.offset.reset': 'earliest' };
}

function errorOptions(config: ConnectorConfig) {
  const options = parseOptions(commonConnectorOptions, config);
  return {
    retryTimeoutMs: Number(options['errors.retry.timeout']),
    retryDelayMaxMs: Number(options['errors.retry.delay.max.ms']),
    tolerance: options['errors.tolerance'] === 'all' ? ('all' as const) : ('none' as const),
    logEnable: options['errors.log.enable'],
    logIncludeMessages: options['errors.log.include.messages'],
  };
}

function subscription(config: ConnectorConfig): readonly string[] | TopicPredicate {
  const regex = config['topics.regex'];
  if (regex === undefined || regex === '') return listEntries(config['topics']);
  const matches = javaRegexMatcher(regex);
  return Object.assign((topic: string) => matches(topic), { pattern: regex });
}
