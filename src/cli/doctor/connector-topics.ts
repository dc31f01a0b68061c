import { listEntries } from '../../config/list-text.ts';
import type { ConnectorConfig } from '../../connect/api.ts';
import { topicCreation } from '../../connect/source/topic-creator.ts';
import { transactionalIds } from '../../connect/source/transactional-id.ts';
import type { Finding } from '../../data/finding.ts';
import type { ClientProperties } from '../../kafka/api.ts';
import { groupFinding, transactionFinding, withSurvey } from './kafka-section.ts';
import { TopicCheck, type TopicDemand } from './topic-check.ts';

/** The properties of a connector's clients, overrides included. */
export type ConnectorClients = Readonly<Record<'consumer' | 'producer' | 'admin', ClientProperties>>;

const DEAD_LETTERS = 'errors.deadletterqueue.topic';

/** Findings about the consumer group, the topics and the dead-letter topic of a sink. */
export async function sinkDemands(config: ConnectorConfig, clients: ConnectorClients): Promise<Finding[]> {
  const name = config['name'] ?? '';
  const findings = await withSurvey(clients.consumer, async (survey, tools) => {
    const group = await groupFinding(survey, tools, clients.consumer['group.id'] ?? `connect-${name}`);
    const demands = listEntries(config['topics']).map((topic) => ({
      name: topic,
      operations: ['Read'] as const,
      whenMissing: 'the sink waits for it',
    }));
    return [group, ...(await new TopicCheck(survey, tools).findings(demands))];
  });
  const deadLetters = config[`${DEAD_LETTERS}.name`] ?? '';
  if (deadLetters === '') return findings;
  const replicationFactor = Number(config[`${DEAD_LETTERS}.replication.factor`] ?? 3);
  const creation = { partitions: 1, replicationFactor, settings: {} };
  const property = `${DEAD_LETTERS}.name`;
  return [...findings, ...(await written([{ name: deadLetters, property, creation }], clients))];
}

/** Settings of a worker that apply to its sources. */
export interface SourceSurroundings {
  /** `topic.creation.enable` */
  readonly createsTopics: boolean;
  /** `group.id` of the worker if `exactly.once.source.support` is `enabled`. */
  readonly exactlyOnceGroup: string | undefined;
}

/**
 * Findings about the topics that a source will write, as far as they are known, about its dead-letter topic, and about the transactional ids of its
 * tasks if it delivers exactly once.
 */
export async function sourceDemands(
  config: ConnectorConfig,
  clients: ConnectorClients,
  topics: readonly string[],
  { createsTopics, exactlyOnceGroup }: SourceSurroundings,
): Promise<Finding[]> {
  const creation = createsTopics ? topicCreation(config) : () => undefined;
  const wanted: WrittenTopic[] = topics.map((name) => ({ name, creation: creation(name)?.wanted }));
  const deadLetters = config[`${DEAD_LETTERS}.name`] ?? '';
  if (deadLetters !== '') {
    const property = `${DEAD_LETTERS}.name`;
    wanted.push({ name: deadLetters, property, creation: creation(deadLetters)?.wanted });
  }
  const findings = await written(wanted, clients);
  if (exactlyOnceGroup === undefined) return findings;
  const id = transactionalIds(exactlyOnceGroup)({ connector: config['name'] ?? '', task: 0 });
  const ofAllTasks = id.replace(/0$/, '');
  const ofTask = await withSurvey(clients.producer, (survey, tools) =>
    transactionFinding(survey, tools, id, ofAllTasks),
  );
  return [ofTask, ...findings];
}

type WrittenTopic = Pick<TopicDemand, 'name' | 'property' | 'creation'>;

async function written(topics: readonly WrittenTopic[], { producer, admin }: ConnectorClients): Promise<Finding[]> {
  if (topics.length === 0) return [];
  const whenMissing = 'the brokers create it if auto.create.topics.enable is set';
  const demands = topics.map((topic) => ({ ...topic, operations: ['Write'] as const, whenMissing }));
  return withSurvey(producer, (survey, tools) =>
    withSurvey(admin, (creator) => new TopicCheck(survey, tools, creator).findings(demands)),
  );
}
