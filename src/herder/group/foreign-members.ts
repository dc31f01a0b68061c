import { sleep } from '../../async/sleep.ts';
import { toError } from '../../errors.ts';
import { ErrorCode } from '../../kafka/errors/error-codes.ts';
import { KafkaError } from '../../kafka/errors/kafka-errors.ts';
import type {
  DescribedMember,
  Generation,
  GroupMember,
  GroupProtocol,
  KafkaGroup,
} from '../../kafka/group/group-membership.ts';
import type { Logger } from '../../observe/logger.ts';
import { SpacedLines } from '../../observe/spaced-lines.ts';
import { decodeMetadata } from './group-bytes.ts';
import type { WorkerGroupSettings } from './worker-group-settings.ts';

/**
 * Prefix of the client id, and therefore of the member id, of every Sluice worker. Members and tools recognize Sluice
 * workers by it, so the format of metadata and assignments can be Java's. It is also the prefix of the protocol names
 * that only Sluice workers support.
 */
const MARK = 'sluice-';
const CHECK_INTERVAL_MS = 1000;
const LOG_INTERVAL_MS = 30_000;
/** Number of characters of a reported address that a log line shows. */
const MAX_SHOWN = 200;

export function markedClientId(clientId: string): string {
  return clientId.startsWith(MARK) ? clientId : MARK + clientId;
}

export function isSluice(memberId: string): boolean {
  return memberId.startsWith(MARK);
}

/** Returns Connect's name of a protocol. The group may have selected the protocol under Sluice's name. */
export function connectProtocolName(name: string): string {
  return name.startsWith(MARK) ? name.slice(MARK.length) : name;
}

type Offers = ReturnType<GroupProtocol['protocols']>;

/**
 * Keeps workers other than Sluice out of the group if `mixed.group` refuses them. A Sluice worker does not join a group
 * that has such members. If a foreign member joins a running group, the leader assigns it no work and removes it. From
 * then on, the broker rejects foreign members, because the leader offers its protocols only under names that foreign
 * workers do not support:
 *
 *   open --a foreign member was removed--> closed
 *   closed --a join of this worker fails with INCONSISTENT_GROUP_PROTOCOL, because a foreign member joined before--> open
 */
export class ForeignMembers {
  readonly #group: KafkaGroup;
  readonly #groupId: string;
  readonly #logger: Logger;
  readonly #allowed: boolean;
  readonly #lines: SpacedLines;
  #refused: ReadonlySet<string> = new Set();
  #isClosed = false;

  constructor(group: KafkaGroup, { groupId, mixed }: WorkerGroupSettings, logger: Logger) {
    this.#group = group;
    this.#groupId = groupId;
    this.#logger = logger;
    this.#allowed = mixed === 'allow';
    this.#lines = new SpacedLines(logger);
  }

  /** The protocols of this worker for JoinGroup, in order of preference. The broker selects one that all members offer. */
  offers(offers: Offers): Offers {
    const own = offers.map((each) => ({ ...each, name: MARK + each.name }));
    return this.#isClosed ? own : [...offers, ...own];
  }

  /** Joins the group. The returned generation has Connect's name of the protocol. */
  async join(member: GroupMember): Promise<Generation> {
    const generation = await member.join().catch((error: unknown) => {
      const isInconsistent = error instanceof KafkaError && error.code === ErrorCode.inconsistentGroupProtocol;
      if (!isInconsistent || !this.#isClosed) throw error;
      this.#isClosed = false;
      return member.join();
    });
    return { ...generation, protocol: connectProtocolName(generation.protocol) };
  }

  /** Resolves when no foreign member is in the group, or when the signal aborts. */
  async untilGone(signal: AbortSignal): Promise<void> {
    let logAtMs = 0;
    while (!this.#allowed && !signal.aborted) {
      const members = (await this.#inGroup()).map(({ memberId }) => memberId);
      if (members.length === 0) return;
      if (Date.now() >= logAtMs) {
        logAtMs = Date.now() + LOG_INTERVAL_MS;
        this.#logger.warn(
          { members },
          `Not joining the worker group ${this.#groupId}: workers that are not Sluice are in it. Stop them, or set mixed.group=allow to work together with them`,
        );
      }
      await sleep(CHECK_INTERVAL_MS, signal).catch(() => undefined);
    }
  }

  /** Returns true if this worker must not accept work from this leader. */
  refusesLeader(leaderId: string): boolean {
    return !this.#allowed && !isSluice(leaderId);
  }

  /** Called on the leader. Returns the members that receive no work in the current assignment. */
  refused<M extends { readonly memberId: string; readonly url: string }>(members: readonly M[]): readonly M[] {
    const refused = this.#allowed ? [] : members.filter(({ memberId }) => !isSluice(memberId));
    this.#refused = new Set(refused.map(({ memberId }) => memberId));
    for (const { memberId, url } of refused) this.#logRefusal(memberId, url.slice(0, MAX_SHOWN));
    return refused;
  }

  /**
   * Called on the leader with the members whose metadata cannot be read. None of them receives work. Refuses those that
   * are foreign.
   */
  refuseUnread(members: readonly { readonly memberId: string }[]): void {
    const refused = this.#allowed ? [] : members.filter(({ memberId }) => !isSluice(memberId));
    this.#refused = new Set([...this.#refused, ...refused.map(({ memberId }) => memberId)]);
    for (const { memberId } of refused) this.#logRefusal(memberId, 'an unknown address');
  }

  #logRefusal(memberId: string, url: string): void {
    const message = `Refused the worker at ${url} in the worker group ${this.#groupId}, because it is not Sluice: it gets no work and is removed from the group. Stop it, or set mixed.group=allow on all Sluice workers`;
    this.#lines.log('error', { memberId, url }, message, 'refused');
  }

  /**
   * Called on the leader. Removes the refused members. If that succeeds, this worker offers only Sluice's protocols
   * from the next join on. Resolves with true if there were refused members, even if they could not be removed.
   */
  async removeRefused(): Promise<boolean> {
    const refused = this.#refused;
    if (refused.size === 0) return false;
    this.#refused = new Set();
    try {
      await this.#group.remove(({ memberId }) => refused.has(memberId));
      this.#isClosed = true;
    } catch (error) {
      this.#logger.warn({ reason: toError(error).message }, 'Failed to remove refused workers from the group');
    }
    return true;
  }

  /**
   * Returns the foreign members of the group. If the group cannot be described, the list is empty, and the join then reports
   * the error.
   */
  async #inGroup(): Promise<readonly DescribedMember[]> {
    try {
      return (await this.#group.members()).filter(({ memberId }) => !isSluice(memberId));
    } catch (error) {
      this.#logger.debug({ reason: toError(error).message }, 'Cannot list the members of the worker group');
      return [];
    }
  }
}

/**
 * Removes the member that a killed worker at the same address left in the group. Otherwise the other members would wait for it
 * until its session times out. No other worker can have this address. Never rejects.
 */
export async function removeStaleMember(group: KafkaGroup, url: string, logger: Logger): Promise<void> {
  try {
    const removed = await group.remove(({ metadata }) => urlOf(metadata) === url);
    for (const memberId of removed)
      logger.info({ memberId }, 'Removed the stale member of an earlier worker at this address');
  } catch (error) {
    logger.debug({ reason: toError(error).message }, 'Cannot determine whether a stale member is in the worker group');
  }
}

/** Returns `undefined` if the metadata cannot be read. */
function urlOf(metadata: Buffer): string | undefined {
  try {
    return decodeMetadata(metadata).url;
  } catch {
    return undefined;
  }
}
