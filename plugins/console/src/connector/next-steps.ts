import type { Health } from '../common/answers.ts';
import { clusterAddress, connectorAddress } from '../common/addresses.ts';
import { texts } from '../texts/connector.ts';

/** A step that helps to fix a connector: a link to a view, or a statement to run in the connector's database. */
interface NextStep {
  readonly title: string;
  readonly address?: string;
  readonly statement?: string;
}

type Given = Pick<Health, 'verdict' | 'summary' | 'reasons' | 'restarts' | 'tasks' | 'type'>;

/** The next steps for the cause of the verdict, the most useful first. */
export function nextSteps(name: string, health: Given): readonly NextStep[] {
  const { verdict } = health;
  if (verdict === 'FAILED') return afterFailure(name, health);
  if (verdict === 'STALLED') return afterStall(name, health);
  if (verdict === 'LAGGING') return afterLag(name, health);
  if (verdict === 'UNASSIGNED') return [{ title: texts.steps.cluster, address: clusterAddress() }];
  if (verdict === 'DEGRADED' && health.type === 'sink')
    return [{ title: texts.steps.deadLetters, address: connectorAddress(name, 'dead-letters') }];
  return health.reasons.some((reason) => reason.includes('check its name in topics'))
    ? [option(name, texts.steps.topics, 'topics')]
    : [];
}

function option(name: string, title: string, focus: string): NextStep {
  return { title, address: connectorAddress(name, 'configuration', { focus }) };
}

/** Extracts from the verdict's sentence the record at which a sink failed. */
function recordOf(
  sentence: string,
): { readonly topic: string; readonly partition: string; readonly offset: string } | undefined {
  const [, topic, partition, offset] = /topic ([\w.-]+), partition (\d+), offset (\d+)/.exec(sentence) ?? [];
  return topic === undefined || partition === undefined || offset === undefined
    ? undefined
    : { topic, partition, offset };
}

function afterFailure(name: string, { summary, restarts, type }: Given): readonly NextStep[] {
  const record = type === 'sink' ? recordOf(summary) : undefined;
  if (record !== undefined) {
    const { topic, partition, offset } = record;
    const skip = `${topic}-${partition}@${offset}`;
    return [
      { title: texts.steps.record, address: connectorAddress(name, 'data', record) },
      { title: texts.steps.skip, address: connectorAddress(name, 'offsets', { skip }) },
      { title: texts.steps.keep, address: connectorAddress(name, 'configuration', { add: 'dead-letters' }) },
    ];
  }
  if (/password authentication failed|\b28P01\b/.test(summary))
    return [option(name, texts.steps.password, 'connection.password')];
  if (/\b28000\b|role ".*" does not exist/.test(summary)) return [option(name, texts.steps.user, 'connection.user')];
  if (/\b3D000\b|database ".*" does not exist/.test(summary))
    return [option(name, texts.steps.database, 'connection.database')];
  const kinds = new Set(restarts.map(({ kind }) => kind));
  if (kinds.has('memory')) return [option(name, texts.steps.memory, 'task.memory.max.mb')];
  if (kinds.has('configuration'))
    return [{ title: texts.steps.configuration, address: connectorAddress(name, 'configuration') }];
  return [{ title: texts.steps.log, address: connectorAddress(name, 'log') }];
}

function afterStall(name: string, { summary, tasks }: Given): readonly NextStep[] {
  const [, pid] = /lock that pid (\d+) holds/.exec(summary) ?? [];
  if (pid !== undefined) return [{ title: texts.steps.endLock(pid), statement: `select pg_terminate_backend(${pid})` }];
  if (tasks.some(({ missingTopics }) => missingTopics.length > 0)) return [option(name, texts.steps.topics, 'topics')];
  if (summary.includes('has not answered')) return [{ title: texts.steps.cluster, address: clusterAddress() }];
  return [{ title: texts.steps.log, address: connectorAddress(name, 'log') }];
}

function afterLag(name: string, { summary, tasks }: Given): readonly NextStep[] {
  if (summary.includes('rate limit')) return [option(name, texts.steps.limit, 'rate.limit.records')];
  const partitions = tasks.reduce((sum, task) => sum + task.partitions.length, 0);
  return partitions > tasks.length
    ? [option(name, texts.steps.tasks(tasks.length, partitions), 'tasks.max')]
    : [{ title: texts.steps.data, address: connectorAddress(name) }];
}
