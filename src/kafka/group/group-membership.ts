import { toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ClientProperties } from '../api.ts';
import { connectionConfig } from '../config/client-config.ts';
import { Cluster } from '../connections/cluster.ts';
import { NetworkMetrics } from '../metrics/network-metrics.ts';
import { groupMembers, removeMembers, type DescribedMember } from './group-members.ts';
import { GroupCoordinatorMetrics } from './group-coordinator-metrics.ts';
import { GroupMember } from './group-member.ts';
import type {
  Generation,
  GroupOptions,
  GroupProtocol,
  LeaderView,
  MemberListener,
  MemberState,
} from './group-protocol.ts';
import { PropertyReader } from '../../config/property-reader.ts';

export type {
  DescribedMember,
  Generation,
  GroupCoordinatorMetrics,
  GroupMember,
  GroupOptions,
  GroupProtocol,
  LeaderView,
  MemberListener,
  MemberState,
};

/** A group with its own connections, because a request on a shared connection would wait for a pending JoinGroup. */
export class KafkaGroup {
  readonly #cluster: Cluster;
  readonly #options: GroupOptions;
  readonly #logger: Logger;
  readonly metrics: GroupCoordinatorMetrics;

  /** `properties` are Java client properties; invalid ones throw a ConfigError. `metricsId` is the client id in metrics. */
  constructor(properties: ClientProperties, options: GroupOptions, logger: Logger, metricsId = options.groupId) {
    const config = connectionConfig(new PropertyReader(properties));
    this.#cluster = new Cluster(config, logger, new NetworkMetrics('connect', metricsId, config.metricWindow));
    this.metrics = new GroupCoordinatorMetrics(config.metricWindow);
    this.#options = options;
    this.#logger = logger;
  }

  /** Creates a member that has not joined yet. Another member may be created after `leave` of the previous one. */
  member(protocol: GroupProtocol, listener: MemberListener): GroupMember {
    return new GroupMember(this.#cluster, this.#options, protocol, listener, this.#logger, this.metrics);
  }

  members(): Promise<readonly DescribedMember[]> {
    return groupMembers(this.#cluster, this.#options.groupId);
  }

  /** Removes the members for which `isGone` returns true, and resolves with their ids. */
  remove(isGone: (member: DescribedMember) => boolean): Promise<readonly string[]> {
    return removeMembers(this.#cluster, this.#options.groupId, isGone);
  }

  async close(): Promise<void> {
    await this.#cluster.close().catch((error: unknown) => {
      this.#logger.debug({ reason: toError(error).message }, 'Failed to close the connections of the group');
    });
  }
}
