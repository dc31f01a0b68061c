import { texts } from '../texts/cluster.ts';

/** An internal topic, as `GET /ui/internal-topics` has it. */
export interface InternalTopic {
  readonly name: string;
  readonly property: string;
  readonly state: 'exists' | 'missing' | 'denied';
  readonly partitions: number;
  readonly replicas: number;
  readonly leaderless: number;
  readonly singlePartition: boolean;
  readonly cleanupPolicy: string | null;
  readonly minInsyncReplicas: number | null;
  readonly bytes: number | null;
}

/** What is wrong with a topic, the worst first. */
export function topicProblems(topic: InternalTopic, brokers: number): readonly string[] {
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
