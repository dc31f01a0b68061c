import type { Logger } from '../../observe/logger.ts';
import { workPlaces } from '../../observe/work-place.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import { ConfigError } from '../../errors.ts';
import { javaRegexMatcher } from '../../java/java-regex.ts';
import { listEntries } from '../../config/list-text.ts';
import { parseOptions } from '../../config/parse.ts';
import { rateLimitOf } from '../../config/rate-limit-options.ts';
import { commonConnectorOptions, sinkConnectorOptions } from '../../config/connector-options.ts';
import { sourceErrorOptions } from '../../config/source-error-options.ts';
import type { TopicPredicate } from '../../kafka/api.ts';
import type { ConnectorConfig, SinkTask } from '../api.ts';
import { transformationChain } from '../pipeline/chain-builder.ts';
import { buildConverters, withDefaultConverters } from '../pipeline/converter-builder.ts';
import { DeadLetterQueue } from '../pipeline/dead-letter-queue.ts';
import { SourceDeadLetters } from '../pipeline/source-dead-letters.ts';
import { RecentFaults } from '../pipeline/recent-faults.ts';
import { ErrorPolicy, type FailureReporter } from '../pipeline/error-policy.ts';
import type { SourceOffsets } from '../source/offset-storage.ts';
import type { PluginRegistry } from '../plugins/plugin-registry.ts';
import { wantedVersion } from '../plugins/plugins-of-config.ts';
import { SinkTaskRunner } from '../sink/sink-task-runner.ts';
import { sourceTaskRunner, type ExactlyOnceSources } from '../source/source-task-parts.ts';
import type { BuiltTask, TaskBuilder } from '../tasks/built-task.ts';
import { taskText, type TaskAssignment, type TaskEvent } from '../task-assignment.ts';
import type { TaskClients } from '../tasks/task-clients.ts';
import type { TaskMeasures } from '../tasks/task-measures.ts';
import { pluginMetrics } from '../tasks/task-metrics.ts';
import { releaseTask, type TaskRunner, type TaskRuntime } from '../tasks/task-runner.ts';
import { Throttle } from '../pipeline/throttle.ts';
import { TopicCreator } from '../source/topic-creator.ts';

/** Settings of the worker that apply to every task. */
export interface TaskDefaults {
  readonly offsetFlushIntervalMs: number;
  readonly offsetFlushTimeoutMs: number;
  readonly topicCreationEnabled: boolean;
  /** Set if source tasks write in transactions (`exactly.once.source.support=enabled`). */
  readonly exactlyOnce?: ExactlyOnceSources | undefined;
  /** `key.converter`, `value.converter`, `header.converter` and their sub-keys, as in the worker's properties file. */
  readonly converterConfig: ConnectorConfig;
}

export interface TaskFactoryDependencies {
  /** Returns false if other workers may already run the tasks of this worker. */
  readonly mayWork: () => boolean;
  readonly plugins: PluginRegistry;
  readonly clients: TaskClients;
  readonly offsets: SourceOffsets;
  readonly defaults: TaskDefaults;
  /** Secrets that are hidden in the headers of dead-letter records and in the messages of recent faults. */
  readonly secrets: SecretMask;
  readonly logger: Logger;
}

/** A task without its runner. */
export interface PreparedTask extends Omit<BuiltTask, 'runner'> {
  readonly runtime: TaskRuntime;
}

/** Builds the runner of a task from its assignment: converters, transforms, error policy, clients, and the task itself. */
export class TaskFactory implements TaskBuilder {
  readonly #dependencies: TaskFactoryDependencies;

  constructor(dependencies: TaskFactoryDependencies) {
    this.#dependencies = dependencies;
  }

  async build(
    assignment: TaskAssignment,
    measures: TaskMeasures,
    onEvent: (event: TaskEvent) => void,
  ): Promise<BuiltTask> {
    const prepared = await this.prepare(assignment, measures, onEvent);
    return withRunner(prepared, (runtime) => this.#runner(runtime));
  }

  /** Prepares a task. `reporter` wraps or replaces the dead-letter queue as the reporter of failed records. */
  async prepare(
    assignment: TaskAssignment,
    measures: TaskMeasures,
    onEvent: (event: TaskEvent) => void,
    reporter: (deadLetters: FailureReporter) => FailureReporter = (deadLetters) => deadLetters,
  ): Promise<PreparedTask> {
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
          logger.warn({ err: error }, 'Failed to close a converter');
        }
      }
    });
    const chain = transformationChain(config, this.#dependencies.plugins);
    const throttle = new Throttle(rateLimitOf(config, assignment.tasks));
    const policyOptions = errorOptions(config);
    const metrics = pluginMetrics(assignment, converters, convertersConfig, this.#dependencies.plugins);
    // The dead-letter producer and the place are opened last, so that nothing can fail before they have an owner.
    const sourceDeadLetters = assignment.type === 'source' ? this.#sourceDeadLetters(assignment) : undefined;
    const [deadLetters = sourceDeadLetters] =
      assignment.type === 'sink' ? await this.#deadLetters(assignment, logger) : [];
    const faults = new RecentFaults(id.task, (text) => this.#dependencies.secrets.hide(text));
    const reporters = deadLetters === undefined ? [faults] : [faults, reporter(deadLetters)];
    const errors = new ErrorPolicy(taskText(id), policyOptions, reporters, logger, abort.signal);
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
      offsetFlushIntervalMs,
      offsetFlushTimeoutMs,
      measures,
      place: workPlaces.open(taskText(id)),
      throttle,
      deadLetters: sourceDeadLetters,
    };
    return { runtime, errors: errors.counts, deadLetters, faults, plugins: metrics };
  }

  /** Creates the task of the plugin. */
  sinkTask(config: ConnectorConfig): SinkTask {
    const plugin = this.#plugin(config);
    if (plugin.type === 'sink') return plugin.createTask();
    throw new ConfigError(`${plugin.className} is not a sink`);
  }

  #plugin(config: ConnectorConfig) {
    const wanted = wantedVersion(config, 'connector.plugin.version');
    return this.#dependencies.plugins.find('connector', config['connector.class'] ?? '', wanted);
  }

  async #runner(runtime: TaskRuntime): Promise<TaskRunner> {
    const { id, connectorConfig: config } = runtime.assignment;
    const { clients, offsets, defaults } = this.#dependencies;
    const plugin = this.#plugin(config);
    if (plugin.type === 'sink') {
      const consumer = await clients.sinkConsumer(id, config);
      return new SinkTaskRunner(runtime, plugin.createTask(), consumer, subscription(config));
    }
    const admin = () => clients.admin(id.connector, config);
    const topics = new TopicCreator(config, defaults.topicCreationEnabled, admin, runtime.logger);
    const opened = await offsets.open(id.connector, config);
    try {
      const parts = { clients, offsets: opened, topics, exactlyOnce: defaults.exactlyOnce };
      return sourceTaskRunner(runtime, plugin.createTask(config), parts);
    } catch (error) {
      await opened.close();
      throw error;
    }
  }

  #sourceDeadLetters({ id, connectorConfig }: TaskAssignment): SourceDeadLetters | undefined {
    const topic = parseOptions(sourceErrorOptions, connectorConfig)['errors.deadletterqueue.topic.name'];
    if (topic === '' || errorOptions(connectorConfig).tolerance === 'none') return undefined;
    return new SourceDeadLetters(id, topic, (text) => this.#dependencies.secrets.hide(text));
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

/** Adds the runner to a prepared task. If the runner cannot be built, the clients and the place of the task are released. */
export async function withRunner(
  { runtime, ...parts }: PreparedTask,
  build: (runtime: TaskRuntime) => Promise<TaskRunner>,
): Promise<BuiltTask> {
  try {
    return { ...parts, runner: await build(runtime) };
  } catch (error) {
    await releaseTask(runtime);
    throw error;
  }
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
