import type { TopicPartition } from '../../data/record.ts';
import type { Logger } from '../../observe/logger.ts';
import type { Handover, TopicPredicate } from '../api.ts';
import type { Cluster } from '../connections/cluster.ts';
import type { ConsumerConfig } from '../config/consumer-config.ts';
import type { CommitRefusedError } from '../errors.ts';
import type { GroupFigures } from '../group/group-figures.ts';
import type { TopicInterest, TopicMetadata } from '../connections/topic-metadata.ts';
import type { HeldPartitions } from './held-partitions.ts';
import type { GroupIdentity } from './offsets.ts';
import type { StartPositions } from './start-positions.ts';

export type TopicSelection = readonly string[] | TopicPredicate;

export interface MembershipDependencies {
  readonly cluster: Cluster;
  readonly metadata: TopicMetadata;
  readonly positions: StartPositions;
  readonly held: HeldPartitions;
  readonly config: ConsumerConfig;
  /** Something happened that `coordinate` should look at. */
  readonly notify: () => void;
  readonly logger: Logger;
}

/** The consumer's side of its group: joins in the background, calls the listener only from `coordinate` and `close`. */
export interface Membership {
  readonly owned: readonly TopicPartition[];
  /** True from `onAssigned` until the partitions are given up; records are handed out only then. */
  readonly announced: boolean;
  /** Nobody else is to look for positions. */
  readonly findsPositions: boolean;
  readonly figures: GroupFigures;
  interest(): TopicInterest;
  /** There is news of topics, partitions or leaders. */
  onMetadata(): void;
  /** The log of an assigned partition is another than the one that was read. */
  onDiverged(topic: string): void;
  /** Calls the listener where it is due and keeps the membership going; for `poll` alone. Throws what is fatal. */
  coordinate(): Promise<void>;
  /** Throws CommitRefusedError when there is no generation to commit in. */
  identity(): GroupIdentity;
  /** A refused commit shows that the group has moved on, often before the next heartbeat does. */
  onCommitRefused(generationId: number, error: CommitRefusedError): void;
  close(timeoutMs: number): Promise<void>;
  /** As `close`; see Consumer. */
  handOver(timeoutMs: number): Promise<Handover | undefined>;
}
