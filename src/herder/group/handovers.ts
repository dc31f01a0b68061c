import type { Handover } from '../../kafka/api.ts';
import { taskKey, taskOf } from './task-key.ts';

/** Consumer group memberships of moving tasks, which their next workers resume, by `taskKey`. */
export type Handovers = ReadonlyMap<string, Handover>;

export const NO_HANDOVERS: Handovers = new Map();

/** Marks the start of the handovers, which follow the fields of Java's messages. Java ignores additional bytes. */
const TAG = Buffer.from('sluice-handovers', 'utf8');
/**
 * Size limit of the handovers of one member in bytes. The coordinator stores the metadata of all members in one record of at
 * most `message.max.bytes`. A task whose handover is omitted joins its group as a new member.
 */
const MAX_BYTES = 16_384;

/**
 * How long a handover is kept. The rebalance that assigns a task may have to be repeated within this time. Later, the next
 * worker has resumed the membership, or the membership is lost.
 */
const KEPT_MS = 5000;

interface KeptHandovers {
  readonly handovers: Handovers;
  readonly untilMs: number;
}

/** Handovers of the tasks that this worker has released recently. */
export class RecentHandovers {
  readonly #now: () => number;
  #recent: readonly KeptHandovers[] = [];

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  add(handovers: Handovers): void {
    if (handovers.size > 0) this.#recent = [{ handovers, untilMs: this.#now() + KEPT_MS }, ...this.#current()];
  }

  /** Returns the newest handover of each task. */
  all(): Handovers {
    this.#recent = this.#current();
    const all = new Map<string, Handover>();
    for (const [key, handover] of this.#recent.flatMap(({ handovers }) => [...handovers])) {
      if (!all.has(key)) all.set(key, handover);
    }
    return all;
  }

  clear(): void {
    this.#recent = [];
  }

  #current(): readonly KeptHandovers[] {
    return this.#recent.filter(({ untilMs }) => untilMs > this.#now());
  }
}

/** Returns an empty buffer if there are no handovers. */
export function encodeHandovers(handovers: Handovers): Buffer {
  const entries: string[] = [];
  let length = 0;
  for (const [key, handover] of handovers) {
    const { connector, task } = taskOf(key);
    const entry = JSON.stringify([connector, task, handover]);
    length += Buffer.byteLength(entry) + 1;
    if (length > MAX_BYTES) break;
    entries.push(entry);
  }
  return entries.length === 0 ? Buffer.alloc(0) : Buffer.concat([TAG, Buffer.from(`[${entries.join()}]`)]);
}

/** Returns an empty map if the bytes are not handovers. */
export function decodeHandovers(bytes: Buffer): Handovers {
  if (!bytes.subarray(0, TAG.length).equals(TAG)) return NO_HANDOVERS;
  const entries = parsed(bytes.toString('utf8', TAG.length));
  if (!Array.isArray(entries)) return NO_HANDOVERS;
  const handovers = new Map<string, Handover>();
  for (const entry of entries as unknown[]) {
    if (!Array.isArray(entry)) continue;
    const [connector, task, handover] = entry as unknown[];
    if (typeof connector === 'string' && typeof task === 'number' && isHandover(handover)) {
      handovers.set(taskKey({ connector, task }), handover);
    }
  }
  return handovers;
}

function isHandover(value: unknown): value is Handover {
  if (typeof value !== 'object' || value === null) return false;
  const { groupId, memberId, generationId, isLeader, protocol, assignment, topics, partitions } = value as Partial<
    Record<keyof Handover, unknown>
  >;
  return (
    [groupId, memberId, protocol, assignment].every((text) => typeof text === 'string') &&
    typeof generationId === 'number' &&
    typeof isLeader === 'boolean' &&
    Array.isArray(topics) &&
    topics.every((topic) => typeof topic === 'string') &&
    typeof partitions === 'object' &&
    partitions !== null &&
    Object.values(partitions).every((count) => typeof count === 'number')
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Without handovers, the tasks join their groups as new members.
    return undefined;
  }
}
