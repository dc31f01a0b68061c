import { fail, ok, warn, type Finding } from '../../data/finding.ts';
import type { AclOperation, NewTopic, Survey, SurveyedTopic } from '../../kafka/api.ts';
import type { KafkaTools } from './kafka-tools.ts';

/** Requirements on a topic. */
export interface TopicDemand {
  readonly name: string;
  /** The property that names the topic, such as `config.storage.topic`; absent: no property names it. */
  readonly property?: string;
  readonly operations: readonly AclOperation[];
  /** How the topic is created if it is missing; absent: the worker does not create it. */
  readonly creation?: Omit<NewTopic, 'name'> | undefined;
  /** `false`: the worker does not create the topic; users must create it as `creation` specifies. */
  readonly mayCreate?: boolean;
  /** Whether the topic must keep the last record of each key (`cleanup.policy=compact`). */
  readonly compacted?: boolean;
  readonly singlePartition?: boolean;
  /** The consequence if the topic is missing and `creation` is absent. */
  readonly whenMissing?: Finding['message'];
}

/**
 * Checks topics. `survey` describes the topics; `creator` (by default `survey`) is the client that would create missing
 * topics.
 */
export class TopicCheck {
  readonly #survey: Survey;
  readonly #tools: KafkaTools;
  readonly #creator: Survey;

  constructor(survey: Survey, tools: KafkaTools, creator = survey) {
    this.#survey = survey;
    this.#tools = tools;
    this.#creator = creator;
  }

  async findings(demands: readonly TopicDemand[]): Promise<Finding[]> {
    const found = await this.#survey.topics([...new Set(demands.map(({ name }) => name))]);
    return (await Promise.all(demands.map((demand) => this.#of(demand, found.get(demand.name))))).flat();
  }

  async #of(demand: TopicDemand, topic: SurveyedTopic | undefined): Promise<Finding[]> {
    const { name, property, operations } = demand;
    const about = property === undefined ? `topic ${name}` : `${property} ${name}`;
    if (topic?.state === 'denied') {
      const remedy = this.#tools.allow(['Describe', ...operations], 'topic', name);
      return [fail(about, 'the user may not see it, or it does not exist', remedy)];
    }
    if (topic === undefined || topic.state === 'missing') return [await this.#ofMissing(about, demand)];
    const problems = [...this.#denied(about, demand, topic), ...this.#unfit(about, demand, topic)];
    if (demand.compacted === true) problems.push(...(await this.#policy(about, name)));
    if (problems.length > 0) return problems;
    const partitions = `${String(topic.partitions)} partition${topic.partitions === 1 ? '' : 's'}`;
    const compacted = demand.compacted === true ? ', compacted' : '';
    const rights = topic.allowed === undefined ? '' : `; the user has ${operations.join(', ')}`;
    return [ok(about, `${partitions}, replication factor ${String(topic.replicas)}${compacted}${rights}`)];
  }

  #denied(about: string, { name, operations }: TopicDemand, { allowed }: SurveyedTopic): Finding[] {
    const denied = allowed === undefined ? [] : operations.filter((operation) => !allowed.has(operation));
    if (denied.length === 0) return [];
    return [fail(about, `the user lacks ${denied.join(', ')}`, this.#tools.allow(denied, 'topic', name))];
  }

  #unfit(about: string, { name, property, singlePartition }: TopicDemand, topic: SurveyedTopic): Finding[] {
    const findings: Finding[] = [];
    if (topic.leaderless > 0) {
      const message = `${String(topic.leaderless)} of ${String(topic.partitions)} partitions have no leader`;
      findings.push(fail(about, message, this.#tools.describeTopic(name)));
    }
    if (singlePartition === true && topic.partitions !== 1) {
      const remedy = `set ${property ?? ''} to a topic that does not exist yet; the worker creates it`;
      findings.push(fail(about, `it has ${String(topic.partitions)} partitions and must have one`, remedy));
    }
    return findings;
  }

  async #policy(about: string, name: string): Promise<Finding[]> {
    const policy = await this.#survey.topicSettings(name).then(
      (settings) => settings.get('cleanup.policy') ?? '',
      () => undefined,
    );
    if (policy === 'compact') return [];
    if (policy === undefined) {
      const remedy = this.#tools.allow(['DescribeConfigs'], 'topic', name);
      return [warn(about, 'the user may not read its settings; cleanup.policy must be compact', remedy)];
    }
    const remedy = this.#tools.setTopic(name, 'cleanup.policy=compact');
    return [fail(about, `cleanup.policy is ${policy} and must be compact: what it keeps would be lost`, remedy)];
  }

  async #ofMissing(about: string, demand: TopicDemand): Promise<Finding> {
    const { name, creation, whenMissing = 'it is not created automatically' } = demand;
    if (creation === undefined) {
      return warn(about, `does not exist: ${whenMissing}`, this.#tools.createTopic(name, ' --partitions 1'));
    }
    const settings = { ...creation.settings, ...(demand.compacted === true ? { 'cleanup.policy': 'compact' } : {}) };
    const partitions = creation.partitions > 0 ? ` --partitions ${String(creation.partitions)}` : '';
    const config = Object.entries(settings).map(([key, value]) => ` --config ${key}=${value}`);
    const remedy = this.#tools.createTopic(name, `${partitions}${config.join('')}`);
    if (demand.mayCreate === false) return fail(about, 'does not exist, and the worker may not create it', remedy);
    const problem = await this.#creator.creationProblem({ name, ...creation, settings });
    if (problem === undefined) return ok(about, 'does not exist; it will be created');
    const message = `does not exist and could not be created: ${problem.message}`;
    const { brokers } = await this.#creator.cluster();
    if (creation.replicationFactor > brokers) {
      return fail(about, message, `set ${factorProperty(demand)}=${String(brokers)}, or add brokers`);
    }
    return fail(about, message, remedy);
  }
}

/** The option that sets the replication factor of a topic. Sluice's own topic has the factor of the config topic. */
function factorProperty({ property }: TopicDemand): string {
  if (property === undefined) return 'topic.creation.default.replication.factor';
  if (property === 'sluice.storage.topic') return 'config.storage.replication.factor';
  return `${property.replace(/\.(?:topic|name)$/, '')}.replication.factor`;
}
