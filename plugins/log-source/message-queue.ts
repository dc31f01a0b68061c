import type { ReceivedMessages } from '../database/index.ts';

/** A message in the buffer in which it was received: the part from `start` to `end` (exclusive). */
export interface LogChunk {
  readonly lsn: bigint;
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Estimated memory of a queued message in addition to its bytes. */
const OVERHEAD_BYTES = 24;

/** A queue of messages, in the groups in which they were received. */
export class MessageQueue {
  #groups: ReceivedMessages[] = [];
  /** Index of the next message in the first group. */
  #next = 0;
  /** Number of messages. */
  length = 0;
  /** Estimated memory of the messages in bytes. The memory of a group is released with its last message. */
  bytes = 0;

  add(group: ReceivedMessages): void {
    this.#groups.push(group);
    this.length += group.length;
    this.bytes += memoryOf(group);
  }

  /** Takes the next message; `undefined` if the queue is empty. */
  take(): LogChunk | undefined {
    const group = this.#groups[0];
    if (group === undefined) return undefined;
    const index = this.#next;
    const chunk = { lsn: group.lsn(index), bytes: group.bytes, start: group.start(index), end: group.end(index) };
    this.#next += 1;
    this.length -= 1;
    if (this.#next === group.length) {
      this.#groups.shift();
      this.#next = 0;
      this.bytes -= memoryOf(group);
    }
    return chunk;
  }

  clear(): void {
    this.#groups = [];
    this.#next = 0;
    this.length = 0;
    this.bytes = 0;
  }
}

function memoryOf(group: ReceivedMessages): number {
  return group.byteLength + group.length * OVERHEAD_BYTES;
}
