import type { Logger } from '../../observe/logger.ts';
import type { Handover, TopicPredicate } from '../api.ts';
import type { Cluster } from '../connections/cluster.ts';
import type { ConsumerConfig } from '../config/consumer-config.ts';
import type { CommitRefusedError } from '../errors/kafka-errors.ts';
import type { GroupCoordinatorMetrics } from '../group/group-coordinator-metrics.ts';
import type { TopicInterest, TopicMetadata } from '../connections/topic-metadata.ts';
import type { OwnedPartitions } from './owned-partitions.ts';
import type { GroupIdentity } from './offsets.ts';
import type { StartPositions } from './start-positions.ts';

export type TopicSelection = readonly string[] | TopicPredicate;

export interface MembershipDependencies {
  readonly cluster: Cluster;
  readonly metadata: TopicMetadata;
  readonly positions: StartPositions;
  readonly ownedPartitions: OwnedPartitions;
  readonly config: ConsumerConfig;
  /** Called when `coordinate` has something to do. */
  readonly notify: () => void;
  readonly logger: Logger;
}

/**
 * The group membership of a consumer. Joins in the background; calls the listener only from `coordinate`, `close` and `handOver`.
 */
export interface Membership {
  readonly ownedPartitions: OwnedPartitions;
  readonly metrics: GroupCoordinatorMetrics;
  interest(): TopicInterest;
  /** Called after a metadata update. */
  onMetadata(): void;
  /** Called if the log of an assigned partition has diverged from the records that were read. */
  onDiverged(topic: string): void;
  /**
   * Called by `poll`. If necessary, joins the group or applies a new assignment, and calls the listener. Throws errors
   * that are not retriable.
   */
  coordinate(): Promise<void>;
  /** Returns the generation to commit in. Throws CommitRefusedError if the member has none. */
  identity(): GroupIdentity;
  /** Called when the broker rejected a commit, which often reveals a rebalance before the next heartbeat does. */
  onCommitRefused(generationId: number, error: CommitRefusedError): void;
  close(timeoutMs: number): Promise<void>;
  /** See `Consumer.handOver`. */
  handOver(timeoutMs: number): Promise<Handover | undefined>;
}
