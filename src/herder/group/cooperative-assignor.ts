import { backoffMs, NO_JITTER } from '../../async/backoff.ts';
import type { TaskId } from '../../connect/task-assignment.ts';
import type { Work } from './group-bytes.ts';
import { MovePace } from './move-pace.ts';
import { WorkSet } from './work-set.ts';

/** One rebalance from the leader's point of view. */
export interface Rebalance {
  /** The connectors and tasks of the config topic, except those that foreign members must stop first. */
  readonly configured: Work;
  /** The work that each member reported, by member id. Members without work are included. */
  readonly members: ReadonlyMap<string, Work>;
  /** The generation that this rebalance starts, and the last generation that this worker saw completed. */
  readonly generation: number;
  readonly lastCompletedGeneration: number;
  /** Members that hand over their work in parts. They receive no work unless all members are draining. */
  readonly draining?: ReadonlySet<string>;
}

/** The changes for each member, and the complete work of each member afterwards. */
export interface Distribution {
  readonly assigned: ReadonlyMap<string, Work>;
  readonly revoked: ReadonlyMap<string, Work>;
  readonly complete: ReadonlyMap<string, Work>;
  /** Delay in milliseconds after which all members rejoin; 0 if they need not rejoin. */
  readonly delayMs: number;
}

/** The work of a member after the rebalance, while it is being computed. */
interface MemberWork {
  readonly member: string;
  readonly work: WorkSet;
}

const BACKOFF_FACTOR = 40;

/**
 * Assigns connectors and tasks to the members of a worker group, like
 * org.apache.kafka.connect.runtime.distributed.IncrementalCooperativeAssignor. Work that does not move continues without
 * interruption. The work of a lost member is held back until the group has as many members as before, or until a delay has
 * passed. Surplus work is revoked first and assigned in the next rebalance. If members join in successive rebalances,
 * revocations are delayed.
 *
 * In addition to Java's behaviour, draining members hand over their work. Surplus work is revoked in parts; the next part
 * follows when the tasks of the previous one deliver records.
 *
 * Every worker that may become the leader has an instance, which remembers the last assignment. Its state is `settled` (no
 * delay) or `waiting` (until `#scheduledAtMs`, for members that left or for the next revocation).
 */
export class CooperativeAssignor {
  readonly #maxDelayMs: number;
  readonly #now: () => number;
  #previous = new WorkSet();
  #previouslyRevoked = new WorkSet();
  #previousGeneration = -1;
  #previousMembers: ReadonlySet<string> = new Set();
  readonly #pace: MovePace;
  /** The remaining work of draining members, by member id. */
  #drainingWork: ReadonlyMap<string, WorkSet> = new Map();
  #revokedInPrevious = false;
  #successiveRevocations = 0;
  #scheduledAtMs = 0;
  #delayMs = 0;
  /** While the work of lost members is held back, the number of members before the loss; otherwise 0. */
  #strength = 0;
  /**
   * Members that had no work while the work of a lost member was held back. Each may be the lost member with a new id.
   */
  readonly #candidates = new Set<string>();

  /** `maxDelayMs` is `scheduled.rebalance.max.delay.ms`; `now` returns milliseconds. */
  constructor(maxDelayMs: number, now: () => number = Date.now) {
    this.#maxDelayMs = maxDelayMs;
    this.#now = now;
    this.#pace = new MovePace(now);
  }

  assign(rebalance: Rebalance): Distribution {
    // Another worker was the leader in the meantime, so the remembered assignment is stale.
    if (this.#previousGeneration !== rebalance.lastCompletedGeneration) this.#previous = new WorkSet();
    this.#releaseDrained(rebalance.members);
    const draining = drainingOf(rebalance);
    const configured = sorted(WorkSet.of(rebalance.configured));
    const members = new Map([...rebalance.members].map(([member, work]) => [member, WorkSet.of(work)]));
    const active = WorkSet.union(members.values());
    this.#noteFailedRevocation(active);

    const deleted = this.#previous.without(configured);
    const lost = this.#previous.without(active, deleted);
    const created = configured.without(this.#previous, active);
    const toRevoke = new Map<string, WorkSet>();
    const current: MemberWork[] = [];
    const next: MemberWork[] = [];
    const duplicated = duplicates(members.values());
    for (const [member, work] of members) {
      const kept = work.without(deleted);
      current.push({ member, work: kept });
      const given = WorkSet.union([work.shared(deleted), work.shared(duplicated)]);
      if (!given.isEmpty) toRevoke.set(member, given);
      next.push({ member, work: work.without(given) });
    }

    const receivers = next.filter(({ member }) => !draining.has(member));
    const drained = next.filter(({ member }) => draining.has(member));
    const reassigned = this.#reassignLost(lost, next, receivers);
    this.#pace.begin(created.tasks.size + reassigned.tasks.size);
    for (const { member, work } of drained) this.#takePart(member, work, work, toRevoke);
    if (this.#delayMs === 0)
      this.#balance(configured, receivers, toRevoke, isSameGroup(rebalance, this.#previousMembers));
    else this.#revokedInPrevious = false;
    const pauseMs = this.#pace.end();

    assignToLeastLoaded(receivers, [...created.connectors, ...reassigned.connectors], 'connectors');
    assignToLeastLoaded(receivers, [...created.tasks, ...reassigned.tasks], 'tasks');
    this.#remember(rebalance, next, toRevoke, lost);
    this.#drainingWork = new Map(drained.map(({ member, work }) => [member, work.without()]));
    return {
      assigned: byMember(next, ({ member, work }) => work.without(workOf(current, member))),
      revoked: byMember(next, ({ member }) => toRevoke.get(member) ?? new WorkSet()),
      complete: byMember(next, ({ work }) => work),
      delayMs: pauseMs > 0 ? pauseMs : this.#delayMs,
    };
  }

  /** If a draining member has left, its work is not held back, but assigned to other members immediately. */
  #releaseDrained(members: ReadonlyMap<string, Work>): void {
    const gone = [...this.#drainingWork].filter(([member]) => !members.has(member));
    for (const [, work] of gone) this.#previous.remove(work);
    const names = new Set(gone.map(([member]) => member));
    this.#previousMembers = new Set([...this.#previousMembers].filter((member) => !names.has(member)));
  }

  /**
   * If revoked work is still running, the previous rebalance did not take effect. The work that runs now then counts as
   * the previous assignment, so that surplus work is revoked again.
   */
  #noteFailedRevocation(active: WorkSet): void {
    if (!this.#previouslyRevoked.shared(active).isEmpty) this.#previous = active;
    this.#previouslyRevoked = new WorkSet();
  }

  /** Assigns the work of lost members to the candidates, holds it back, or returns it to be assigned like new work. */
  #reassignLost(lost: WorkSet, next: readonly MemberWork[], receivers: readonly MemberWork[]): WorkSet {
    if (lost.isEmpty && !this.#revokedInPrevious) {
      this.#settle();
      return new WorkSet();
    }
    const now = this.#now();
    const present = new Set(next.map(({ member }) => member));
    const nobodyLeft = this.#scheduledAtMs <= 0 && [...this.#previousMembers].every((member) => present.has(member));
    // If work is lost although no member has left, a member did not receive its last assignment. This work is treated
    // as new. Without a rebalance delay, the work of lost members is treated as new too.
    if (nobodyLeft || this.#maxDelayMs === 0) return lost;
    if (!lost.isEmpty && [...this.#previousMembers].some((member) => !present.has(member))) {
      this.#strength = Math.max(this.#strength, this.#previousMembers.size);
    }
    const isOver = this.#scheduledAtMs > 0 && now >= this.#scheduledAtMs;
    if (!isOver) for (const { member, work } of receivers) if (work.isEmpty) this.#candidates.add(member);
    const candidates = [...this.#candidates].flatMap((candidate) =>
      receivers.filter(({ member }) => member === candidate),
    );
    // The wait ends when as many members have joined as were lost. Java waits for the whole delay instead.
    const haveReturned = this.#strength > 0 && present.size >= this.#strength && candidates.length > 0;
    if (isOver || haveReturned) {
      this.#settle();
      this.#revokedInPrevious = false;
      if (candidates.length === 0) return lost;
      roundRobin(candidates, lost);
      return new WorkSet();
    }
    this.#delayMs = now < this.#scheduledAtMs ? this.#scheduledAtMs - now : this.#maxDelayMs;
    this.#scheduledAtMs = now + this.#delayMs;
    return new WorkSet();
  }

  #settle(): void {
    this.#candidates.clear();
    this.#strength = 0;
    this.#scheduledAtMs = 0;
    this.#delayMs = 0;
  }

  /**
   * Revokes a part of the surplus work. If the previous rebalance also revoked work and the members have changed since
   * then, members are probably joining one after another. The revocation is then delayed by a growing back-off.
   */
  #balance(
    configured: WorkSet,
    next: readonly MemberWork[],
    toRevoke: Map<string, WorkSet>,
    hasSameMembers: boolean,
  ): void {
    const surplus = surplusOf(configured, next);
    if (surplus.size === 0) {
      if (this.#revokedInPrevious) {
        this.#revokedInPrevious = false;
        this.#successiveRevocations = 0;
      }
      return;
    }
    if (this.#revokedInPrevious && !hasSameMembers) {
      this.#successiveRevocations += 1;
      this.#delayMs = this.#backoffMs();
      if (this.#delayMs !== 0) {
        this.#scheduledAtMs = this.#now() + this.#delayMs;
        return;
      }
    } else {
      this.#revokedInPrevious = true;
    }
    for (const { member, work } of next) {
      const taken = surplus.get(member);
      if (taken !== undefined) this.#takePart(member, work, taken, toRevoke);
    }
  }

  /** Revokes a part of `wanted`, which is a subset of the member's work. */
  #takePart(member: string, work: WorkSet, wanted: WorkSet, toRevoke: Map<string, WorkSet>): void {
    const part = this.#pace.take(wanted);
    if (part.isEmpty) return;
    work.remove(part);
    toRevoke.set(member, WorkSet.union([toRevoke.get(member) ?? new WorkSet(), part]));
  }

  /**
   * Returns the back-off. It is 40 ms for the first rebalance whose revocation is delayed, and is multiplied by 40 for
   * each successive one, up to the maximum delay.
   */
  #backoffMs(): number {
    const maxMs = this.#maxDelayMs;
    return backoffMs(this.#successiveRevocations, { firstMs: 1, maxMs, factor: BACKOFF_FACTOR, jitter: NO_JITTER });
  }

  #remember(rebalance: Rebalance, next: readonly MemberWork[], toRevoke: Map<string, WorkSet>, lost: WorkSet): void {
    const revoked = WorkSet.union(toRevoke.values());
    this.#previous = WorkSet.union(next.map(({ work }) => work));
    this.#previous.remove(revoked);
    this.#previous.add(lost);
    this.#previouslyRevoked = revoked;
    this.#previousGeneration = rebalance.generation;
    this.#previousMembers = new Set(rebalance.members.keys());
  }
}

/** Returns the draining members. Returns none if all members are draining, because their work must run somewhere. */
function drainingOf({ draining, members }: Rebalance): ReadonlySet<string> {
  const present = [...members.keys()].filter((member) => draining?.has(member) === true);
  return new Set(present.length < members.size ? present : []);
}

/** Returns true if the members are those of the previous rebalance. */
function isSameGroup({ members }: Rebalance, previous: ReadonlySet<string>): boolean {
  return members.size === previous.size && [...members.keys()].every((member) => previous.has(member));
}

/** Sorts connectors by name, and tasks by connector and number, so that the result is deterministic. */
function sorted({ connectors, tasks }: WorkSet): WorkSet {
  const byTask = (a: string, b: string): number => {
    const [left, right] = [a.lastIndexOf('\0'), b.lastIndexOf('\0')];
    const [from, to] = [a.slice(0, left), b.slice(0, right)];
    return from === to ? Number(a.slice(left + 1)) - Number(b.slice(right + 1)) : from < to ? -1 : 1;
  };
  return new WorkSet([...connectors].sort(), [...tasks].sort(byTask));
}

function duplicates(works: Iterable<WorkSet>): WorkSet {
  const seen = new WorkSet();
  const duplicated = new WorkSet();
  for (const work of works) {
    duplicated.add(work.shared(seen));
    seen.add(work);
  }
  return duplicated;
}

function workOf(loads: readonly MemberWork[], member: string): WorkSet {
  return loads.find((load) => load.member === member)?.work ?? new WorkSet();
}

function byMember(loads: readonly MemberWork[], of: (load: MemberWork) => WorkSet): Map<string, Work> {
  return new Map(loads.map((load) => [load.member, of(load).toWork()]));
}

/** Returns the work of each member that exceeds its share. Connectors and tasks are counted separately. */
function surplusOf(configured: WorkSet, loads: readonly MemberWork[]): Map<string, WorkSet> {
  const surplus = new Map<string, WorkSet>();
  for (const kind of ['connectors', 'tasks'] as const) {
    for (const [member, taken] of surplusOfKind(configured[kind].size, loads, kind)) {
      const known = surplus.get(member) ?? new WorkSet();
      for (const one of taken) known[kind].add(one);
      surplus.set(member, known);
    }
  }
  return surplus;
}

function surplusOfKind(
  total: number,
  loads: readonly MemberWork[],
  kind: 'connectors' | 'tasks',
): Map<string, string[]> {
  const least = Math.floor(total / loads.length);
  const extras = total % loads.length;
  const sizes = loads.map(({ work }) => work[kind].size);
  const withLeast = sizes.filter((size) => size === least).length;
  const withExtra = sizes.filter((size) => size === least + 1).length;
  const taken = new Map<string, string[]>();
  if (withExtra === extras && withLeast + withExtra === loads.length) return taken;
  let extrasGiven = 0;
  for (const { member, work } of loads) {
    const { size } = work[kind];
    if (size <= least) continue;
    const share = extrasGiven < extras ? least + 1 : least;
    if (share > least) extrasGiven += 1;
    if (size > share) taken.set(member, [...work[kind]].slice(0, size - share));
  }
  return taken;
}

/** Assigns each item to a member with the least work. */
function assignToLeastLoaded(loads: MemberWork[], items: readonly string[], kind: 'connectors' | 'tasks'): void {
  if (items.length === 0) return;
  const queue = [...items];
  loads.sort((a, b) => a.work[kind].size - b.work[kind].size);
  while (queue.length > 0) {
    const least = loads[0]?.work[kind].size ?? 0;
    const upTo = loads.findIndex(({ work }) => work[kind].size > least);
    for (const { work } of upTo < 0 ? loads : loads.slice(0, upTo)) {
      const item = queue.shift();
      if (item === undefined) break;
      work[kind].add(item);
    }
  }
}

function roundRobin(loads: readonly MemberWork[], lost: WorkSet): void {
  for (const kind of ['connectors', 'tasks'] as const) {
    [...lost[kind]].forEach((item, index) => loads[index % loads.length]?.work[kind].add(item));
  }
}

/**
 * Assigns all work from the start in each rebalance: round-robin to the members in order, connectors first
 * (org.apache.kafka.connect.runtime.distributed.EagerAssignor). Used if a member of the group supports no other protocol.
 */
export function assignEagerly(configured: Work, members: readonly string[]): ReadonlyMap<string, Work> {
  const shares = [...members].sort().map((member) => ({ member, connectors: [] as string[], tasks: [] as TaskId[] }));
  let turn = 0;
  const next = () => shares[turn++ % shares.length];
  for (const connector of [...configured.connectors].sort()) next()?.connectors.push(connector);
  const tasks = [...configured.tasks].sort((a, b) =>
    a.connector === b.connector ? a.task - b.task : a.connector < b.connector ? -1 : 1,
  );
  for (const task of tasks) next()?.tasks.push(task);
  return new Map(shares.map(({ member, connectors, tasks: own }) => [member, { connectors, tasks: own }]));
}
