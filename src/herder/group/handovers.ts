import type { Handover } from '../../kafka/api.ts';
import { taskKey, taskOf } from './task-key.ts';

/** What tasks that move leave to themselves on the next worker: their places in consumer groups. By `taskKey`. */
export type Handovers = ReadonlyMap<string, Handover>;

export const NO_HANDOVERS: Handovers = new Map();

/** Before the handovers, behind the fields of Java's messages, whose readers ignore what follows them. */
const TAG = Buffer.from('sluice-handovers', 'utf8');
/**
 * Of one member: the coordinator keeps what all members say in one record of at most `message.max.bytes`. A task whose handover is left
 * out joins its group anew.
 */
const MAX_BYTES = 16_384;

/** The round in which a task is dealt out may have to be repeated; later the next worker has the place, or it is lost. */
const KEPT_MS = 5000;

interface Left {
  readonly handovers: Handovers;
  readonly untilMs: number;
}

/** Handovers of the tasks that this worker has given up lately. */
export class LeftHandovers {
  readonly #now: () => number;
  #left: readonly Left[] = [];

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  add(handovers: Handovers): void {
    if (handovers.size > 0) this.#left = [{ handovers, untilMs: this.#now() + KEPT_MS }, ...this.#current()];
  }

  /** The last ones first. */
  all(): Handovers {
    this.#left = this.#current();
    const all = new Map<string, Handover>();
    for (const [key, handover] of this.#left.flatMap(({ handovers }) => [...handovers])) {
      if (!all.has(key)) all.set(key, handover);
    }
    return all;
  }

  clear(): void {
    this.#left = [];
  }

  #current(): readonly Left[] {
    return this.#left.filter(({ untilMs }) => untilMs > this.#now());
  }
}

/** Empty where there are none. */
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

/** None where the bytes are anything else. */
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
    // As if there were none: the tasks join their groups anew.
    return undefined;
  }
}
