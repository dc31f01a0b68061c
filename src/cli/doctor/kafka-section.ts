import { clockFinding, fail, ok, warn, type Finding } from '../../data/finding.ts';
import type { DistributedWorkerConfig, InternalTopic, WorkerConfig } from '../../config/worker-config.ts';
import type { ClientProperties, Survey } from '../../kafka/api.ts';
import { createKafkaClient } from '../../kafka/client/client.ts';
import { silentLogger } from '../../observe/logger.ts';
import { KafkaTools } from './kafka-tools.ts';
import { TopicCheck, type TopicDemand } from './topic-check.ts';

/** Shorter timeouts than those of a worker, because a user waits for the doctor. */
const IN_SHORT: ClientProperties = {
  'default.api.timeout.ms': '6000',
  'request.timeout.ms': '5000',
  'socket.connection.setup.timeout.ms': '4000',
  'socket.connection.setup.timeout.max.ms': '4000',
};

/** Examines a cluster with the properties of one kind of client, and closes the client afterwards. */
export async function withSurvey<T>(
  properties: ClientProperties,
  look: (survey: Survey, tools: KafkaTools) => Promise<T>,
): Promise<T> {
  const survey = createKafkaClient({ ...properties, ...IN_SHORT }, silentLogger).survey();
  try {
    return await look(survey, new KafkaTools(properties));
  } finally {
    await survey.close();
  }
}

/** The brokers, as the worker's own clients see them. Rejects when none answers. */
export async function brokerFindings(config: WorkerConfig): Promise<Finding[]> {
  return withSurvey(config.clients.worker, async (survey) => {
    const { brokers, release, clusterId } = await survey.cluster();
    const count = `${String(brokers)} broker${brokers === 1 ? '' : 's'}`;
    const findings = [ok('brokers', `${count}, Kafka ${release ?? 'of an unknown release'}, cluster ${clusterId}`)];
    const lead = await survey.clockLeadMs();
    return lead === undefined ? findings : [...findings, clockFinding("clock of Kafka's controller", lead)];
  });
}

/**
 * Tries to connect with the properties of each kind of client. Clients of connectors do not inherit the worker's
 * security settings (docs/worker.md#worker-files).
 */
export async function clientFindings({ clients }: WorkerConfig): Promise<Finding[]> {
  const kinds = ['consumer', 'producer', 'admin'] as const;
  const findings = kinds.map(async (kind): Promise<Finding> => {
    try {
      await withSurvey(clients[kind], (survey) => survey.cluster());
      return ok(`${kind}s of connectors`, 'reach the brokers');
    } catch (error) {
      const message = `cannot reach the brokers: ${error instanceof Error ? error.message : String(error)}`;
      const remedy = `set ${kind}.security.protocol, ${kind}.sasl.…, ${kind}.ssl.… as for the worker itself`;
      return fail(`${kind}s of connectors`, message, kind === 'admin' ? undefined : remedy);
    }
  });
  return Promise.all(findings);
}

/** Findings about the group, the internal topics and, if it uses one, the transactional id of a worker. */
export async function groupFindings(config: DistributedWorkerConfig): Promise<Finding[]> {
  const { 'group.id': groupId, 'exactly.once.source.support': support } = config.distributed;
  return withSurvey(config.clients.worker, async (survey, tools) => {
    const findings = [await groupFinding(survey, tools, groupId)];
    findings.push(...(await internalTopicFindings(config, new TopicCheck(survey, tools))));
    if (support.toLowerCase() !== 'disabled') {
      findings.push(await transactionFinding(survey, tools, `connect-cluster-${groupId}`));
    }
    return findings;
  });
}

export async function groupFinding(survey: Survey, tools: KafkaTools, groupId: string): Promise<Finding> {
  const about = `group ${groupId}`;
  if (await survey.mayJoin(groupId)) return ok(about, 'the user may join it');
  return fail(about, 'the user lacks Read, and cannot join it', tools.allow(['Read'], 'group', groupId));
}

/** Whether the user may use a transactional id. `prefix`: the common prefix of all ids that will be used. */
export async function transactionFinding(
  survey: Survey,
  tools: KafkaTools,
  id: string,
  prefix?: string,
): Promise<Finding> {
  const about = `transactional id ${id}`;
  if (await survey.mayTransact(id)) return ok(about, 'the user may write under it');
  const remedy = tools.allow(['Describe', 'Write'], 'transactional-id', prefix ?? id, prefix !== undefined);
  return fail(about, 'the user lacks Write', remedy);
}

/**
 * The worker starts without Sluice's own topic, so its problems are warnings.
 * @internal
 */
export async function internalTopicFindings(
  { topics }: DistributedWorkerConfig,
  check: Pick<TopicCheck, 'findings'>,
): Promise<Finding[]> {
  const [required, own] = await Promise.all([
    check.findings([
      { ...demand('config.storage.topic', topics.config), singlePartition: true },
      demand('offset.storage.topic', topics.offset),
      demand('status.storage.topic', topics.status),
    ]),
    check.findings([{ ...demand('sluice.storage.topic', topics.own), singlePartition: true }]),
  ]);
  return [...required, ...own.map((finding) => (finding.level === 'fail' ? inMemory(finding) : finding))];
}

function inMemory({ about, message, remedy }: Finding): Finding {
  return warn(about, `${message}; restart counts, the history and replays are kept in memory`, remedy);
}

function demand(property: string, { name, mayCreate, ...creation }: InternalTopic): TopicDemand {
  return { name, property, creation, mayCreate, operations: ['Read', 'Write'], compacted: true };
}
