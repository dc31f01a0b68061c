import { toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ClientProperties } from '../api.ts';
import { connectionConfig } from '../config/client-config.ts';
import { Cluster } from '../connections/cluster.ts';
import { NetworkFigures } from '../metrics/network-figures.ts';
import { groupMembers, removeMembers, type DescribedMember } from './group-members.ts';
import { GroupFigures } from './group-figures.ts';
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

export { Signal } from '../../async/signal.ts';
export type {
  DescribedMember,
  Generation,
  GroupFigures,
  GroupMember,
  GroupOptions,
  GroupProtocol,
  LeaderView,
  MemberListener,
  MemberState,
};

/** A group over connections of its own (a request behind a waiting JoinGroup would wait with it). */
export class KafkaGroup {
  readonly #cluster: Cluster;
  readonly #options: GroupOptions;
  readonly #logger: Logger;
  readonly figures: GroupFigures;

  /** `properties` as a Java client has them; wrong ones are a ConfigError. `metricsId`: the client's id on the page of metrics. */
  constructor(properties: ClientProperties, options: GroupOptions, logger: Logger, metricsId = options.groupId) {
    const config = connectionConfig(new PropertyReader(properties));
    this.#cluster = new Cluster(config, logger, new NetworkFigures('connect', metricsId, config.metricWindow));
    this.figures = new GroupFigures(config.metricWindow);
    this.#options = options;
    this.#logger = logger;
  }

  /** One that has not joined yet; after its `leave` another one may be made. */
  member(protocol: GroupProtocol, listener: MemberListener): GroupMember {
    return new GroupMember(this.#cluster, this.#options, protocol, listener, this.#logger, this.figures);
  }

  /** All that are in it now. */
  members(): Promise<readonly DescribedMember[]> {
    return groupMembers(this.#cluster, this.#options.groupId);
  }

  /** Resolves with the ids of the members that were removed. */
  remove(isGone: (member: DescribedMember) => boolean): Promise<readonly string[]> {
    return removeMembers(this.#cluster, this.#options.groupId, isGone);
  }

  async close(): Promise<void> {
    await this.#cluster.close().catch((error: unknown) => {
      this.#logger.debug({ reason: toError(error).message }, 'closing the connections of the group');
    });
  }
}
