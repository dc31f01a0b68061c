import { ConnectError, toError } from '../../errors.ts';
import type { GroupProtocol, LeaderView } from '../../kafka/group/group-membership.ts';
import type { Logger } from '../../observe/logger.ts';
import { SpacedLines } from '../../observe/spaced-lines.ts';
import type { GroupWorker } from './placement.ts';
import { ConfigSync } from './config-sync.ts';
import { assignEagerly, CooperativeAssignor, type Distribution } from './cooperative-assignor.ts';
import {
  decodeMetadata,
  encodeAssignment,
  encodeMetadata,
  NO_WORK,
  workNames,
  type ConnectProtocolName,
  type MemberAssignment,
  type MemberMetadata,
  type Work,
} from './group-bytes.ts';
import type { Handovers } from './handovers.ts';
import { connectProtocolName, isSluice, type ForeignMembers } from './foreign-members.ts';
import type { OwnWork } from './own-work.ts';
import { taskKey } from './task-key.ts';
import { WorkSet } from './work-set.ts';
import type { WorkerGroupSettings } from './worker-group-settings.ts';

const MAX_SHOWN = 200;

/**
 * Protocols that a worker offers, by `connect.protocol`, in order of preference. The older protocols are offered too, so that a
 * group with old members can agree on a common protocol.
 */
const OFFERS: Readonly<Record<string, readonly ConnectProtocolName[]>> = {
  sessioned: ['sessioned', 'compatible', 'default'],
  compatible: ['compatible', 'default'],
  eager: ['default'],
};

/** The part of the config store that assignments need. */
export interface ConfiguredWork {
  /** The offset after the last record that was read; -1 if no record was read. */
  readonly offset: number;
  /** Resolves when all records that existed at the time of the call have been read. */
  refresh(): Promise<void>;
  work(): Work;
}

interface Member extends MemberMetadata {
  readonly memberId: string;
}

/**
 * Connect's group protocol. It consists of the metadata with which a worker joins, and of the assignments that the leader
 * computes (org.apache.kafka.connect.runtime.distributed.WorkerCoordinator).
 */
export class WorkerProtocol implements GroupProtocol {
  readonly type = 'connect';
  readonly #settings: WorkerGroupSettings;
  readonly #configured: ConfiguredWork;
  readonly #configSync: ConfigSync;
  readonly #work: OwnWork;
  readonly #foreignMembers: ForeignMembers;
  readonly #logger: Logger;
  readonly #assignor: CooperativeAssignor;
  readonly #lines: SpacedLines;
  /** On the leader, the URLs of the owners of connectors and tasks, according to the last assignment. */
  #ownerUrls: ReadonlyMap<string, string> = new Map();
  #workers: readonly GroupWorker[] = [];
  #lastProtocol: string | undefined;
  #needsReassignment = false;

  constructor(
    settings: WorkerGroupSettings,
    configured: ConfiguredWork,
    work: OwnWork,
    foreignMembers: ForeignMembers,
    logger: Logger,
  ) {
    this.#settings = settings;
    this.#configured = configured;
    this.#configSync = new ConfigSync(configured, settings, logger);
    this.#work = work;
    this.#foreignMembers = foreignMembers;
    this.#logger = logger;
    this.#lines = new SpacedLines(logger);
    this.#assignor = new CooperativeAssignor(settings.maxDelayMs);
  }

  /** True if the last assignment was empty, so that all members stop their work. Another rebalance must follow. */
  get needsReassignment(): boolean {
    return this.#needsReassignment;
  }

  /** Returns the URL of the owner of a connector or of one of its tasks. Only the leader knows it. */
  ownerUrl(connector: string, task?: number): string | undefined {
    return this.#ownerUrls.get(task === undefined ? connector : taskKey({ connector, task }));
  }

  /** The members of the last assignment. Only the leader knows them. */
  get workers(): readonly GroupWorker[] {
    return this.#workers;
  }

  protocols(): readonly { readonly name: string; readonly metadata: Buffer }[] {
    const { url, protocol } = this.#settings;
    const { assignment: allocation = null, isDraining: draining, handovers } = this.#work;
    const metadata = { url, configOffset: this.#configured.offset, allocation, draining, handovers };
    const names = OFFERS[protocol.toLowerCase()] ?? OFFERS['sessioned'] ?? [];
    return this.#foreignMembers.offers(names.map((name) => ({ name, metadata: encodeMetadata(metadata, name) })));
  }

  async assign(view: LeaderView): Promise<ReadonlyMap<string, Buffer>> {
    const protocol = connectProtocolName(view.protocol) as ConnectProtocolName;
    const members = view.members.flatMap(({ memberId, metadata }) => this.#read(memberId, metadata));
    const foreign = this.#foreignMembers.refused(members);
    // Members with unreadable metadata receive no work. Some of them may be foreign members that must be refused.
    this.#foreignMembers.refuseUnread(
      view.members.filter(({ memberId }) => members.every((each) => each.memberId !== memberId)),
    );
    const own = members.filter((member) => !foreign.includes(member));
    const groupOffset = Math.max(-1, ...own.map(({ configOffset }) => configOffset));
    const base = { leader: view.leaderId, leaderUrl: this.#settings.url };
    if (!(await this.#hasRead(groupOffset))) {
      this.#logger.warn(
        { offset: this.#configured.offset, groupOffset },
        'The leader has not read the config topic up to the offset of other members; no work is assigned until it has',
      );
      const mismatch = { ...base, error: 'config-mismatch', configOffset: groupOffset, ...NOTHING_NEW } as const;
      return new Map(members.map(({ memberId }) => [memberId, encodeAssignment(mismatch, protocol)]));
    }
    // A member may report a higher offset than this, because the last records that it has read were compacted away.
    const configOffset = this.#configured.offset;
    // Work that a foreign member reports must stop there before it is assigned. A foreign member may report any work,
    // so work that a Sluice worker also reports is exempt.
    const held = WorkSet.union(own.map(({ allocation }) => WorkSet.of(allocation?.assigned ?? NO_WORK)));
    const claimed = WorkSet.union(foreign.map(({ allocation }) => WorkSet.of(allocation?.assigned ?? NO_WORK)));
    const leaving = claimed.without(held);
    const { assigned, revoked, complete, delayMs } = this.#distribute(protocol, view.generationId, own, leaving);
    for (const { memberId, allocation } of foreign) revoked.set(memberId, allocation?.assigned ?? NO_WORK);
    this.#ownerUrls = ownerUrls(own, complete);
    this.#workers = own.map((member) => groupWorker(member, complete.get(member.memberId) ?? NO_WORK));
    this.#logDistribution(view.generationId, own, { assigned, revoked, complete, delayMs });
    const handovers = new Map(own.flatMap((member) => [...(member.handovers ?? [])]));
    const assignmentOf = (memberId: string): MemberAssignment => ({
      ...base,
      error: 'none',
      configOffset,
      assigned: assigned.get(memberId) ?? NO_WORK,
      revoked: revoked.get(memberId) ?? NO_WORK,
      delayMs,
      handovers: isSluice(memberId) ? handoversOf(assigned.get(memberId) ?? NO_WORK, handovers) : undefined,
    });
    return new Map(members.map(({ memberId }) => [memberId, encodeAssignment(assignmentOf(memberId), protocol)]));
  }

  /** `leaving` is work that must stop on foreign members before it may be assigned. */
  #distribute(
    protocol: ConnectProtocolName,
    generation: number,
    members: readonly Member[],
    leaving: WorkSet,
  ): Distribution & { readonly revoked: Map<string, Work> } {
    const all = this.#configured.work();
    const configured = leaving.isEmpty ? all : WorkSet.of(all).without(leaving).toWork();
    // In the eager protocol, members do not report their work. If the group has just changed to this protocol, members
    // may still run earlier work, so nothing is assigned yet.
    const isNewlyEager = protocol === 'default' && this.#lastProtocol !== 'default';
    this.#needsReassignment = isNewlyEager && this.#settings.protocol.toLowerCase() !== 'eager';
    this.#lastProtocol = protocol;
    if (this.#needsReassignment) return { assigned: new Map(), revoked: new Map(), complete: new Map(), delayMs: 0 };
    const draining = new Set(members.filter((member) => member.draining === true).map(({ memberId }) => memberId));
    if (protocol === 'default') {
      const all = members.map(({ memberId }) => memberId);
      const memberIds = draining.size < all.length ? all.filter((memberId) => !draining.has(memberId)) : all;
      const complete = assignEagerly(configured, memberIds);
      return { assigned: complete, revoked: new Map(), complete, delayMs: 0 };
    }
    const distribution = this.#assignor.assign({
      configured,
      members: new Map(members.map(({ memberId, allocation }) => [memberId, allocation?.assigned ?? NO_WORK])),
      generation,
      lastCompletedGeneration: this.#work.lastCompletedGeneration,
      draining,
    });
    return { ...distribution, revoked: new Map(distribution.revoked) };
  }

  #logDistribution(generation: number, members: readonly Member[], { assigned, revoked, delayMs }: Distribution): void {
    if (!this.#logger.isLevelEnabled('debug')) return;
    for (const { memberId, url } of members) {
      const work = {
        assigned: workNames(assigned.get(memberId) ?? NO_WORK),
        revoked: workNames(revoked.get(memberId) ?? NO_WORK),
      };
      this.#logger.debug({ generation, memberId, url, ...work, delayMs }, 'Computed the assignment of a member');
    }
  }

  /**
   * Decodes the metadata of a member. A member with unreadable metadata receives no work, so that it does not block the others.
   */
  #read(memberId: string, metadata: Buffer): Member[] {
    try {
      const read = decodeMetadata(metadata);
      if (!isWorkerUrl(read.url)) throw new ConnectError(`Its address is not an http or https URL: ${shown(read.url)}`);
      return [{ memberId, ...read }];
    } catch (error) {
      const reason = toError(error).message;
      this.#lines.log('error', { memberId, reason }, 'A member of the worker group gets no work');
      return [];
    }
  }

  /** Reads the config topic up to this offset. Java's leader starts another rebalance instead, but reading is faster. */
  async #hasRead(offset: number): Promise<boolean> {
    if (this.#configured.offset >= offset) return true;
    // If the offset is still lower after reading to the end, the missing records were compacted away.
    return this.#configSync.readToEnd();
  }
}

/** Returns true if requests can be sent to the URL. */
function isWorkerUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

/** Quotes and shortens a text that another member sent. */
function shown(text: string): string {
  return JSON.stringify(text.slice(0, MAX_SHOWN));
}

const NOTHING_NEW = { assigned: NO_WORK, revoked: NO_WORK, delayMs: 0 } as const;

/** Describes a member. For a draining member, its remaining work is included. */
function groupWorker({ url, draining = false, allocation }: Member, complete: Work): GroupWorker {
  const work = WorkSet.of(complete);
  if (draining) work.add(WorkSet.of(allocation?.assigned ?? NO_WORK));
  const { hostname, port, protocol } = new URL(url);
  const workerId = `${hostname}:${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`;
  return { workerId, url, draining, connectors: work.connectors.size, tasks: work.tasks.size };
}

function handoversOf({ tasks }: Work, all: Handovers): Handovers {
  return new Map(
    tasks.flatMap((id) => {
      const handover = all.get(taskKey(id));
      return handover === undefined ? [] : [[taskKey(id), handover] as const];
    }),
  );
}

function ownerUrls(members: readonly Member[], complete: ReadonlyMap<string, Work>): Map<string, string> {
  const urls = new Map<string, string>();
  for (const { memberId, url } of members) {
    const { connectors, tasks } = complete.get(memberId) ?? NO_WORK;
    for (const connector of connectors) urls.set(connector, url);
    for (const id of tasks) urls.set(taskKey(id), url);
  }
  return urls;
}
