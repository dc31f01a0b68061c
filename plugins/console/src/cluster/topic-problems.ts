import type { InternalTopicsAnswer } from '../common/answers.ts';
import { texts } from '../texts/cluster.ts';

/** The problems of a topic, the worst first. */
export function topicProblems(topic: InternalTopicsAnswer['topics'][number], brokers: number): readonly string[] {
  const { topicProblems: say } = texts;
  const { name, state, partitions, replicas, leaderless, singlePartition, cleanupPolicy, minInsyncReplicas } = topic;
  if (state !== 'exists') return [say[state]];
  const problems: string[] = [];
  if (cleanupPolicy !== null && cleanupPolicy !== 'compact') problems.push(say.notCompact(name, cleanupPolicy));
  if (singlePartition && partitions > 1) problems.push(say.partitions(partitions));
  if (leaderless > 0) problems.push(say.leaderless(leaderless));
  if (replicas === 1 && brokers > 1) problems.push(say.oneReplica(brokers));
  if (minInsyncReplicas !== null && replicas > 1 && minInsyncReplicas >= replicas) {
    problems.push(say.minInsync(replicas, minInsyncReplicas));
  }
  return problems;
}
