import { listEntries } from '../../config/list-text.ts';
import { javaRegexMatcher } from '../../java/java-regex.ts';
import { ConnectError, RetriableError, toError } from '../../errors.ts';
import type { Admin, NewTopic } from '../../kafka/api.ts';
import { ErrorCode } from '../../kafka/errors/error-codes.ts';
import { KafkaError } from '../../kafka/errors/kafka-errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ConnectorConfig } from '../api.ts';

type TopicMatcher = (topic: string) => boolean;

interface TopicGroup {
  readonly name: string;
  readonly include: readonly TopicMatcher[];
  readonly exclude: readonly TopicMatcher[];
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly settings: Readonly<Record<string, string>>;
}

const PREFIX = 'topic.creation.';
const OWN_KEYS = new Set(['include', 'exclude', 'partitions', 'replication.factor']);

/**
 * Creates the topics of a source connector according to its `topic.creation.*` groups. A topic is created with the settings of
 * the first group whose include matches and whose exclude does not match. If there is no such group, the group `default` is
 * used. Without `topic.creation.*` settings, the brokers may create topics automatically. Existing topics are never
 * changed.
 */
export class TopicCreator {
  readonly #admin: () => Admin;
  readonly #creation: TopicCreation;
  readonly #logger: Logger;
  #opened: Admin | undefined;

  constructor(config: ConnectorConfig, enabled: boolean, admin: () => Admin, logger: Logger) {
    this.#admin = admin;
    this.#creation = enabled ? topicCreation(config) : () => undefined;
    this.#logger = logger;
  }

  async ensure(topic: string): Promise<void> {
    const found = this.#creation(topic);
    if (found === undefined) return;
    this.#opened ??= this.#admin();
    const existing = await this.#opened.describeTopics([topic]);
    if (existing.has(topic)) return;
    if (await this.#create(this.#opened, found.wanted)) {
      this.#logger.info(`Created topic ${topic} by the settings of topic.creation group ${found.group}`);
    }
  }

  /** Creates a topic. The error messages are those of Java's TopicAdmin and AbstractWorkerSourceTask. */
  async #create(admin: Admin, wanted: NewTopic): Promise<boolean> {
    try {
      return await admin.createTopic(wanted);
    } catch (error) {
      if (error instanceof RetriableError) throw error;
      const code = error instanceof KafkaError ? error.code : undefined;
      if (code !== undefined && FORBIDDEN.has(code)) throw new ConnectError(forbidden(wanted), { cause: error });
      const isInvalid = code === ErrorCode.invalidConfig || code === ErrorCode.policyViolation;
      const message = isInvalid
        ? `Unable to create topic(s) '${wanted.name}': ${toError(error).message}`
        : `Error while attempting to create/find topic(s) '${wanted.name}'`;
      throw new ConnectError(message, { cause: error });
    }
  }

  async close(): Promise<void> {
    await this.#opened?.close();
  }
}

const FORBIDDEN: ReadonlySet<number> = new Set([
  ErrorCode.topicAuthorizationFailed,
  ErrorCode.clusterAuthorizationFailed,
]);

function forbidden({ name, partitions, replicationFactor, settings }: NewTopic): string {
  const configs = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
  const topic = `(name=${name}, numPartitions=${String(partitions)}, replicationFactor=${String(replicationFactor)}, replicasAssignments=null, configs={${configs.join(', ')}})`;
  return `Task failed to create new topic ${topic}. Ensure that the task is authorized to create topics or that the topic exists and restart the task`;
}

/** Returns how a topic is created, and the group that decides it; `undefined` if the connector creates no topics. */
type TopicCreation = (topic: string) => { readonly group: string; readonly wanted: NewTopic } | undefined;

/** Reads the `topic.creation.*` groups. Throws a ConnectError if a group has an invalid number. */
export function topicCreation(config: ConnectorConfig): TopicCreation {
  const groups = topicGroups(config);
  return (topic) => {
    const group = groups.find((each) => matches(each, topic));
    if (group === undefined) return undefined;
    const { partitions, replicationFactor, settings } = group;
    return { group: group.name, wanted: { name: topic, partitions, replicationFactor, settings } };
  };
}

function matches(group: TopicGroup, topic: string): boolean {
  const matching = (matcher: TopicMatcher) => matcher(topic);
  return !group.exclude.some(matching) && group.include.some(matching);
}

/** Whether a connector creates its topics. */
export function createsTopics(config: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(config).some((key) => key.startsWith(PREFIX));
}

function topicGroups(config: ConnectorConfig): TopicGroup[] {
  if (!createsTopics(config)) return [];
  const names = listEntries(config[`${PREFIX}groups`]).filter((name) => name !== 'default');
  const number = (group: string, key: string) => {
    const text = config[`${PREFIX}${group}.${key}`] ?? config[`${PREFIX}default.${key}`];
    const value = Number(text);
    if (text === undefined || !Number.isInteger(value) || (value < 1 && value !== -1)) {
      throw new ConnectError(
        `${PREFIX}${group}.${key} must be a positive number, or -1 for the broker's default; it is ${text ?? 'missing'}`,
      );
    }
    return value;
  };
  return [...names, 'default'].map((name) => ({
    name,
    include: name === 'default' ? [() => true] : patterns(config[`${PREFIX}${name}.include`]),
    exclude: name === 'default' ? [] : patterns(config[`${PREFIX}${name}.exclude`]),
    partitions: number(name, 'partitions'),
    replicationFactor: number(name, 'replication.factor'),
    settings: Object.fromEntries(
      Object.entries(config)
        .filter(([key]) => key.startsWith(`${PREFIX}${name}.`))
        .map(([key, value]) => [key.slice(PREFIX.length + name.length + 1), value] as const)
        .filter(([key]) => !OWN_KEYS.has(key)),
    ),
  }));
}

function patterns(text: string | undefined): TopicMatcher[] {
  return listEntries(text).map(javaRegexMatcher);
}
