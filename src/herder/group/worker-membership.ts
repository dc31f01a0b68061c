import { RequestError } from '../../errors.ts';
import {
  KafkaGroup,
  type Generation,
  type GroupFigures,
  type GroupMember,
  type MemberState,
} from '../../kafka/group/group-membership.ts';
import type { GroupWorker } from '../placement.ts';
import { ForeignMembers, markedClientId, removeStaleMember } from './foreign-members.ts';
import type { WatchedMember } from './session-watch.ts';
import type { WorkerGroupDependencies } from './worker-group-settings.ts';
import { WorkerProtocol, type WorkerProtocolDependencies } from './worker-protocol.ts';

const LEAVE_MS = 2000;
const NOT_JOINED: WatchedMember = { lastContactAt: 0, unanswered: false, state: 'joining' };

export interface WorkerMembershipDependencies
  extends
    WorkerGroupDependencies,
    Pick<WorkerProtocolDependencies, 'allocation' | 'lastCompletedGeneration' | 'handovers'> {
  /** Ends early when the worker stops. */
  readonly pause: (ms: number) => Promise<void>;
  readonly isStopped: () => boolean;
  readonly onState: (state: MemberState) => void;
}

/**
 * This worker as a member of its group: what it offers, whom it works with, and the member itself, which is another one after
 * each time that the group was left.
 */
export class WorkerMembership {
  readonly #dependencies: WorkerMembershipDependencies;
  readonly #group: KafkaGroup;
  readonly #protocol: WorkerProtocol;
  readonly #foreignMembers: ForeignMembers;
  /** This worker wants no work, from the next join on. */
  isDraining = false;
  #member: GroupMember | undefined;

  constructor(dependencies: WorkerMembershipDependencies) {
    const { settings, url, client, logger } = dependencies;
    this.#dependencies = dependencies;
    const { host } = new URL(url);
    const clientId = markedClientId(dependencies.clientId || `connect-${host}`);
    this.#group = new KafkaGroup({ ...client, 'client.id': clientId }, settings, logger, `connect-${host}`);
    this.#foreignMembers = new ForeignMembers({ ...dependencies, ...settings, group: this.#group });
    this.#protocol = new WorkerProtocol({
      ...dependencies,
      ...settings,
      offer: settings.protocol,
      isDraining: () => this.isDraining,
      foreignMembers: this.#foreignMembers,
    });
  }

  /** Of the requests to the group's coordinator. */
  get figures(): GroupFigures {
    return this.#group.figures;
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

  /** Leader only: the last division gave nothing to anybody, another round must follow. */
  get dealsAgain(): boolean {
    return this.#protocol.dealsAgain;
  }

  /** Of a connector, or one of its tasks; known to the leader alone. */
  ownerUrl(connector: string, task?: number): string | undefined {
    return this.#protocol.ownerUrl(connector, task);
  }

  /** The members of the last division; known to the leader alone. */
  get workers(): readonly GroupWorker[] {
    return this.#protocol.workers;
  }

  holds({ generationId }: Generation): boolean {
    return this.#member?.generation?.generationId === generationId;
  }

  /** Resolves when nothing of the group keeps this worker from joining it. */
  async start(): Promise<void> {
    const { url, logger, isStopped } = this.#dependencies;
    await removeStaleMember(this.#group, url, logger);
    await this.#foreignMembers.untilGone();
    if (isStopped()) throw new RequestError(500, 'Worker is shutting down');
    this.#renew();
  }

  async join(): Promise<Generation> {
    return this.#foreignMembers.join(this.#renewed());
  }

  requestRejoin(reason: string): void {
    this.#renewed().requestRejoin(reason);
  }

  /** Whether this worker must not work for the leader of the generation. */
  refusesLeader({ leaderId }: Generation): boolean {
    return this.#foreignMembers.refusesLeader(leaderId);
  }

  async untilForeignMembersGone(): Promise<void> {
    await this.#foreignMembers.untilGone();
  }

  /** Leader only: takes out who was refused; whether there was anybody. */
  async removeRefused(): Promise<boolean> {
    return this.#foreignMembers.removeRefused();
  }

  /** Leaves the group, to join it again as a new member. */
  async leave(): Promise<void> {
    await this.#member?.leave(LEAVE_MS);
    this.#renew();
  }

  /** Leaves the group for good. */
  async stop(): Promise<void> {
    await this.#member?.leave(LEAVE_MS);
  }

  async close(): Promise<void> {
    await this.#group.close();
  }

  #renew(): void {
    this.#member = this.#group.member(this.#protocol, this.#dependencies.onState);
  }

  #renewed(): GroupMember {
    if (this.#member === undefined) throw new Error('The worker group has not been started');
    return this.#member;
  }
}
