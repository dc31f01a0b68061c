import { RequestError } from '../../errors.ts';
import type { ClientProperties } from '../../kafka/api.ts';
import {
  KafkaGroup,
  type Generation,
  type GroupCoordinatorMetrics,
  type GroupMember,
  type MemberState,
} from '../../kafka/group/group-membership.ts';
import type { Logger } from '../../observe/logger.ts';
import type { GroupWorker } from './placement.ts';
import { ForeignMembers, markedClientId, removeStaleMember } from './foreign-members.ts';
import type { OwnWork } from './own-work.ts';
import type { WatchedMember } from './session-watch.ts';
import type { WorkerGroupSettings } from './worker-group-settings.ts';
import { WorkerProtocol, type ConfiguredWork } from './worker-protocol.ts';

const LEAVE_MS = 2000;
const NOT_JOINED: WatchedMember = { lastContactAt: 0, unanswered: false, state: 'joining' };

/** Opens the group on the broker. `clientId` is `client.id`; if it is empty, `connect-host:port` is used. */
export function openKafkaGroup(
  client: ClientProperties,
  clientId: string,
  settings: WorkerGroupSettings,
  logger: Logger,
): KafkaGroup {
  const name = `connect-${new URL(settings.url).host}`;
  return new KafkaGroup({ ...client, 'client.id': markedClientId(clientId || name) }, settings, logger, name);
}

/** This worker as a member of its group. Whenever it leaves the group, a new GroupMember replaces the old one. */
export class WorkerMembership {
  readonly #url: string;
  readonly #logger: Logger;
  readonly #group: KafkaGroup;
  readonly #protocol: WorkerProtocol;
  readonly #foreignMembers: ForeignMembers;
  #onState: (state: MemberState) => void = () => undefined;
  #member: GroupMember | undefined;

  constructor(
    group: KafkaGroup,
    settings: WorkerGroupSettings,
    configured: ConfiguredWork,
    work: OwnWork,
    logger: Logger,
  ) {
    this.#url = settings.url;
    this.#logger = logger;
    this.#group = group;
    this.#foreignMembers = new ForeignMembers(group, settings, logger);
    this.#protocol = new WorkerProtocol(settings, configured, work, this.#foreignMembers, logger);
  }

  /** Metrics of the requests to the group coordinator. */
  get figures(): GroupCoordinatorMetrics {
    return this.#group.metrics;
  }

  get watched(): WatchedMember {
    return this.#member ?? NOT_JOINED;
  }

  get state(): MemberState | undefined {
    return this.#member?.state;
  }

  get isLost(): boolean {
    return this.state === 'lost' || this.state === 'failed';
  }

  /** On the leader, true if the last assignment was empty for all members, so that another rebalance must follow. */
  get needsReassignment(): boolean {
    return this.#protocol.needsReassignment;
  }

  /** Returns the URL of the owner of a connector or of one of its tasks. Only the leader knows it. */
  ownerUrl(connector: string, task?: number): string | undefined {
    return this.#protocol.ownerUrl(connector, task);
  }

  /** The members of the last assignment. Only the leader knows them. */
  get workers(): readonly GroupWorker[] {
    return this.#protocol.workers;
  }

  holds({ generationId }: Generation): boolean {
    return this.#member?.generation?.generationId === generationId;
  }

  /** Resolves when this worker may join the group. The signal aborts when the worker stops. */
  async start(signal: AbortSignal, onState: (state: MemberState) => void): Promise<void> {
    this.#onState = onState;
    await removeStaleMember(this.#group, this.#url, this.#logger);
    await this.#foreignMembers.untilGone(signal);
    if (signal.aborted) throw new RequestError(500, 'Worker is shutting down');
    this.#renew();
  }

  async join(): Promise<Generation> {
    return this.#foreignMembers.join(this.#currentMember());
  }

  requestRejoin(reason: string): void {
    this.#currentMember().requestRejoin(reason);
  }

  /** Returns true if this worker must not accept work from the leader of the generation. */
  refusesLeader({ leaderId }: Generation): boolean {
    return this.#foreignMembers.refusesLeader(leaderId);
  }

  async untilForeignMembersGone(signal: AbortSignal): Promise<void> {
    await this.#foreignMembers.untilGone(signal);
  }

  /** Called on the leader. Removes the refused members. Resolves with true if there were any. */
  async removeRefused(): Promise<boolean> {
    return this.#foreignMembers.removeRefused();
  }

  /** Leaves the group. The next join uses a new member. */
  async leave(): Promise<void> {
    await this.#member?.leave(LEAVE_MS);
    this.#renew();
  }

  /** Leaves the group permanently. */
  async stop(): Promise<void> {
    await this.#member?.leave(LEAVE_MS);
  }

  async close(): Promise<void> {
    await this.#group.close();
  }

  #renew(): void {
    this.#member = this.#group.member(this.#protocol, this.#onState);
  }

  #currentMember(): GroupMember {
    if (this.#member === undefined) throw new Error('The worker group has not been started');
    return this.#member;
  }
}
