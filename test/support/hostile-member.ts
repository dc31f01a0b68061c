import { sleep } from '../../src/async/sleep.ts';
import { ErrorCode } from '../../src/kafka/errors/error-codes.ts';
import { KafkaError } from '../../src/kafka/errors/kafka-errors.ts';
import { KafkaGroup, type GroupMember, type LeaderView } from '../../src/kafka/group/group-membership.ts';
import { silentLogger } from '../../src/observe/logger.ts';

export interface HostileMemberOptions {
  readonly bootstrap: string;
  readonly groupId: string;
  /** `connect` or `consumer`. */
  readonly type: string;
  /** Prefix of its member id. */
  readonly clientId: string;
  readonly sessionTimeoutMs?: number;
  /** Names of the protocols that the member supports. */
  readonly protocols: readonly string[];
  readonly metadata: () => Buffer;
  /** Returns the assignments that the member sends as the leader. If absent, it assigns nothing. */
  readonly assign?: (view: LeaderView) => Promise<ReadonlyMap<string, Buffer>>;
}

/** A client that may join a group, and sends arbitrary data there. */
export class HostileMember {
  readonly #group: KafkaGroup;
  readonly #options: HostileMemberOptions;
  #member: GroupMember | undefined;
  #isLeading = false;

  constructor(options: HostileMemberOptions) {
    const { bootstrap, clientId, groupId, sessionTimeoutMs = 10_000 } = options;
    const times = { sessionTimeoutMs, rebalanceTimeoutMs: 10_000, heartbeatIntervalMs: 100 };
    this.#options = options;
    this.#group = new KafkaGroup(
      { 'bootstrap.servers': bootstrap, 'client.id': clientId },
      { groupId, ...times },
      silentLogger,
    );
  }

  get isLeading(): boolean {
    return this.#isLeading;
  }

  get state(): string {
    return this.#member?.state ?? 'unjoined';
  }

  /** Joins the group and stays in it. Resolves with the assignment of the first round. */
  async join(): Promise<Buffer> {
    const { type, protocols, metadata, assign } = this.#options;
    this.#member ??= this.#group.member(
      {
        type,
        protocols: () => protocols.map((name) => ({ name, metadata: metadata() })),
        assign: (view) => {
          this.#isLeading = true;
          return assign?.(view) ?? Promise.resolve(new Map<string, Buffer>());
        },
      },
      () => undefined,
    );
    const { assignment, isLeader } = await this.#member.join();
    this.#isLeading = isLeader;
    return assignment;
  }

  /**
   * Joins again whenever the group rebalances or a join fails. Returns when `until` is true or the group rejects its
   * protocols.
   */
  async stay(until: () => boolean): Promise<void> {
    while (!until()) {
      if (this.state !== 'stable') {
        const error: unknown = await this.join().then(
          () => undefined,
          (reason: unknown) => reason,
        );
        if (error instanceof KafkaError && error.code === ErrorCode.inconsistentGroupProtocol) return;
      }
      await sleep(20);
    }
  }

  async leave(): Promise<void> {
    await this.#member?.leave(2000);
    this.#member = undefined;
  }

  async end(): Promise<void> {
    await this.leave();
    await this.#group.close();
  }
}
