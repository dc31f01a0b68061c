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
 * Begins the client id, and so the member id, of every Sluice worker in its group: members and tools see which is which,
 * and the bytes of metadata and assignments stay Java's.
 */
const MARK = 'sluice-';
const LOOK_EVERY_MS = 1000;
const SAY_EVERY_MS = 30_000;
/** Characters of a claimed address that a log line shows. */
const MAX_SHOWN = 200;

export function markedClientId(clientId: string): string {
  return clientId.startsWith(MARK) ? clientId : MARK + clientId;
}

export function isSluice(memberId: string): boolean {
  return memberId.startsWith(MARK);
}

/** Connect's name of a protocol that may have been agreed on under our own. */
export function connectProtocolName(name: string): string {
  return name.startsWith(MARK) ? name.slice(MARK.length) : name;
}

type Offers = ReturnType<GroupProtocol['protocols']>;

/**
 * Members of the worker group that are no Sluice workers, where `mixed.group` refuses them. A group that is theirs is not
 * entered. One that comes into a running group gets no work, is taken out by the leader, and is then kept out by the
 * broker, because the leader offers its protocols under names that others do not know:
 *
 *   open --one came in--> it is removed --> closed --one was quicker (INCONSISTENT_GROUP_PROTOCOL)--> open
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

  /** What this worker offers at JoinGroup, best first. The broker chooses one that all members offer. */
  offers(offers: Offers): Offers {
    const own = offers.map((each) => ({ ...each, name: MARK + each.name }));
    return this.#isClosed ? own : [...offers, ...own];
  }

  /** As the member's `join`; the protocol has Connect's name. */
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
    let sayAtMs = 0;
    while (!this.#allowed && !signal.aborted) {
      const members = (await this.#inGroup()).map(({ memberId }) => memberId);
      if (members.length === 0) return;
      if (Date.now() >= sayAtMs) {
        sayAtMs = Date.now() + SAY_EVERY_MS;
        this.#logger.warn(
          { members },
          `Not joining the worker group ${this.#groupId}: workers that are not Sluice are in it. Stop them, or set mixed.group=allow to work beside them`,
        );
      }
      await sleep(LOOK_EVERY_MS, signal).catch(() => undefined);
    }
  }

  /** Whether this worker must not work for a leader. */
  refusesLeader(leaderId: string): boolean {
    return !this.#allowed && !isSluice(leaderId);
  }

  /** Leader only: which of the members get nothing in the division that it is making. */
  refused<M extends { readonly memberId: string; readonly url: string }>(members: readonly M[]): readonly M[] {
    const refused = this.#allowed ? [] : members.filter(({ memberId }) => !isSluice(memberId));
    this.#refused = new Set(refused.map(({ memberId }) => memberId));
    for (const { memberId, url } of refused) this.#logRefusal(memberId, url.slice(0, MAX_SHOWN));
    return refused;
  }

  /** Leader only: members of this division whose metadata it cannot read. They get nothing anyway. */
  refuseUnread(members: readonly { readonly memberId: string }[]): void {
    const refused = this.#allowed ? [] : members.filter(({ memberId }) => !isSluice(memberId));
    this.#refused = new Set([...this.#refused, ...refused.map(({ memberId }) => memberId)]);
    for (const { memberId } of refused) this.#logRefusal(memberId, 'an unknown address');
  }

  #logRefusal(memberId: string, url: string): void {
    const message = `Refused the worker at ${url} in the worker group ${this.#groupId}, because it is not Sluice: it gets no work and is taken out of the group. Stop it, or set mixed.group=allow on all Sluice workers`;
    this.#lines.log('error', { memberId, url }, message, 'refused');
  }

  /** Leader only: takes out who was refused, and shuts the door when all join again; whether there was anybody. */
  async removeRefused(): Promise<boolean> {
    const refused = this.#refused;
    if (refused.size === 0) return false;
    this.#refused = new Set();
    try {
      await this.#group.remove(({ memberId }) => refused.has(memberId));
      this.#isClosed = true;
    } catch (error) {
      this.#logger.warn({ reason: toError(error).message }, 'Refused workers could not be taken out of the group');
    }
    return true;
  }

  /** None where the group cannot be described: joining it tells more. */
  async #inGroup(): Promise<readonly DescribedMember[]> {
    try {
      return (await this.#group.members()).filter(({ memberId }) => !isSluice(memberId));
    } catch (error) {
      this.#logger.debug({ reason: toError(error).message }, 'Who is in the worker group is not known');
      return [];
    }
  }
}

/**
 * A worker that was killed and started again finds its former self in the group, which would keep everybody waiting until
 * its session is over. Nobody else can be at this address. Never rejects.
 */
export async function removeStaleMember(group: KafkaGroup, url: string, logger: Logger): Promise<void> {
  try {
    const removed = await group.remove(({ metadata }) => urlOf(metadata) === url);
    for (const memberId of removed) logger.info({ memberId }, 'Removed what an earlier worker at this address left');
  } catch (error) {
    logger.debug({ reason: toError(error).message }, 'Whether an earlier worker is still in the group is not known');
  }
}

/** `undefined`: the metadata of the member cannot be read. */
function urlOf(metadata: Buffer): string | undefined {
  try {
    return decodeMetadata(metadata).url;
  } catch {
    return undefined;
  }
}
