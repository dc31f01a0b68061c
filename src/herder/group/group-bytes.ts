import { taskText, type TaskId } from '../../connect/task-assignment.ts';
import { ConnectError } from '../../errors.ts';
import { decodeHandovers, encodeHandovers, NO_HANDOVERS, type Handovers } from './handovers.ts';

/**
 * Connect's group protocols. The key is the protocol name in JoinGroup, and the value is the version number in the metadata.
 */
const PROTOCOL_VERSIONS = { default: 0, compatible: 1, sessioned: 2 } as const;
export type ConnectProtocolName = keyof typeof PROTOCOL_VERSIONS;

/** Returns the version number of a protocol by its name in JoinGroup; -1 if it is not one of Connect's protocols. */
export function protocolVersion(name: string): number {
  return Object.hasOwn(PROTOCOL_VERSIONS, name) ? PROTOCOL_VERSIONS[name as ConnectProtocolName] : -1;
}

/** Connectors and tasks that a member owns, receives or loses. */
export interface Work {
  readonly connectors: readonly string[];
  readonly tasks: readonly TaskId[];
}

/** The assignment that the leader sends to one member (SyncGroup). */
export interface MemberAssignment {
  readonly error: 'none' | 'config-mismatch';
  /** Member id and address of the leader. */
  readonly leader: string;
  readonly leaderUrl: string;
  /**
   * The offset up to which the leader has read the config topic. With `config-mismatch`, the highest offset that a
   * member reported.
   */
  readonly configOffset: number;
  /** In versions 1 and 2, the new work of the member. In version 0, its whole work. */
  readonly assigned: Work;
  /** In versions 1 and 2, the work that the member must stop. */
  readonly revoked: Work;
  /** In versions 1 and 2, the delay in milliseconds after which the member rejoins; 0 if it need not rejoin. */
  readonly delayMs: number;
  /** Handovers of the assigned tasks, if there are any. */
  readonly handovers?: Handovers | undefined;
}

/** The metadata that a member sends to the leader (JoinGroup). */
export interface MemberMetadata {
  readonly url: string;
  /** The offset up to which the member has read the config topic; -1 if it has read no record. */
  readonly configOffset: number;
  /** In versions 1 and 2, the current work of the member; `null` before its first assignment. */
  readonly allocation: MemberAssignment | null;
  /** Set if the member is draining (see `DrainablePlacement.drain`). */
  readonly draining?: boolean;
  /** Handovers of stopped tasks, for their next workers, if there are any. */
  readonly handovers?: Handovers;
}

/** Names of connectors, and of tasks as `connector-task`. */
export function workNames({ connectors, tasks }: Work): string[] {
  return [...connectors, ...tasks.map(taskText)];
}

export const NO_WORK: Work = Object.freeze({ connectors: Object.freeze([]), tasks: Object.freeze([]) });

/**
 * Marks a draining member. It follows the fields of Java's metadata; Java ignores additional bytes (ConnectProtocol: "forwards
 * compatible").
 */
const DRAINING = Buffer.from('sluice-draining', 'utf8');
/** Task number that represents the connector itself. */
const CONNECTOR_TASK = -1;
const CONFIG_MISMATCH = 1;

/**
 * Encodes metadata in the format of
 * org.apache.kafka.connect.runtime.distributed.{ConnectProtocol,IncrementalCooperativeConnectProtocol}.
 */
export function encodeMetadata(metadata: MemberMetadata, protocol: ConnectProtocolName): Buffer {
  const version = PROTOCOL_VERSIONS[protocol];
  const writer = new ByteWriter();
  writer.int16(version);
  writer.string(metadata.url);
  writer.int64(metadata.configOffset);
  if (version > 0) {
    const { allocation } = metadata;
    writer.nullableBytes(allocation === null ? null : encodeAssignment(allocation, protocol));
  }
  const draining = metadata.draining === true ? DRAINING : Buffer.alloc(0);
  return Buffer.concat([writer.bytes(), draining, encodeHandovers(metadata.handovers ?? NO_HANDOVERS)]);
}

/** Throws a ConnectError if the bytes are not valid metadata. */
export function decodeMetadata(bytes: Buffer): MemberMetadata {
  const reader = new ByteReader(bytes, 'metadata');
  const version = reader.version();
  const url = reader.string();
  const configOffset = reader.int64();
  const nested = version > 0 ? reader.nullableBytes() : null;
  const allocation = nested === null ? null : decodeAssignment(nested);
  const rest = reader.rest();
  const draining = rest.subarray(0, DRAINING.length).equals(DRAINING);
  const handovers = decodeHandovers(draining ? rest.subarray(DRAINING.length) : rest);
  return { url, configOffset, allocation, ...(draining && { draining }), ...(handovers.size > 0 && { handovers }) };
}

export function encodeAssignment(assignment: MemberAssignment, protocol: ConnectProtocolName): Buffer {
  const version = PROTOCOL_VERSIONS[protocol];
  const writer = new ByteWriter();
  writer.int16(version);
  writer.int16(assignment.error === 'none' ? 0 : CONFIG_MISMATCH);
  writer.string(assignment.leader);
  writer.string(assignment.leaderUrl);
  writer.int64(assignment.configOffset);
  writer.work(assignment.assigned);
  if (version > 0) {
    writer.work(assignment.revoked);
    writer.int32(assignment.delayMs);
  }
  return Buffer.concat([writer.bytes(), encodeHandovers(assignment.handovers ?? NO_HANDOVERS)]);
}

/**
 * Throws a ConnectError if the bytes are not a valid assignment. An empty buffer is not valid; a member receives it if
 * the leader's assignment does not contain the member.
 */
export function decodeAssignment(bytes: Buffer): MemberAssignment {
  const reader = new ByteReader(bytes, 'assignment');
  const version = reader.version();
  const error = reader.int16() === CONFIG_MISMATCH ? 'config-mismatch' : 'none';
  const leader = reader.string();
  const leaderUrl = reader.string();
  const configOffset = reader.int64();
  const assigned = reader.work();
  const revoked = version > 0 ? reader.work() : NO_WORK;
  const delayMs = version > 0 ? reader.int32() : 0;
  const handovers = decodeHandovers(reader.rest());
  const plain = { error, leader, leaderUrl, configOffset, assigned, revoked, delayMs } as const;
  return handovers.size > 0 ? { ...plain, handovers } : plain;
}

class ByteWriter {
  readonly #parts: Buffer[] = [];

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  int16(value: number): void {
    const part = Buffer.alloc(2);
    part.writeInt16BE(value);
    this.#parts.push(part);
  }

  int32(value: number): void {
    const part = Buffer.alloc(4);
    part.writeInt32BE(value);
    this.#parts.push(part);
  }

  int64(value: number): void {
    const part = Buffer.alloc(8);
    part.writeBigInt64BE(BigInt(value));
    this.#parts.push(part);
  }

  string(text: string): void {
    const bytes = Buffer.from(text, 'utf8');
    this.int16(bytes.length);
    this.#parts.push(bytes);
  }

  nullableBytes(bytes: Buffer | null): void {
    this.int32(bytes?.length ?? -1);
    if (bytes !== null) this.#parts.push(bytes);
  }

  /** Writes work grouped by connector. `CONNECTOR_TASK` for the connector itself precedes the task numbers. */
  work({ connectors, tasks }: Work): void {
    const numbers = new Map<string, number[]>();
    for (const name of connectors) numbers.set(name, [CONNECTOR_TASK]);
    for (const { connector, task } of tasks) {
      const known = numbers.get(connector);
      if (known === undefined) numbers.set(connector, [task]);
      else known.push(task);
    }
    this.int32(numbers.size);
    for (const [name, list] of numbers) {
      this.string(name);
      this.int32(list.length);
      for (const number of list) this.int32(number);
    }
  }
}

class ByteReader {
  readonly #bytes: Buffer;
  readonly #what: string;
  #at = 0;

  constructor(bytes: Buffer, what: string) {
    this.#bytes = bytes;
    this.#what = what;
  }

  version(): number {
    const version = this.int16();
    // Later versions add fields at the end (ConnectProtocol: "forwards compatible").
    if (version < 0) throw this.#damaged(`version ${String(version)}`);
    return version;
  }

  int16(): number {
    return this.#take(2).readInt16BE();
  }

  int32(): number {
    return this.#take(4).readInt32BE();
  }

  int64(): number {
    const value = Number(this.#take(8).readBigInt64BE());
    // A topic cannot have that many records, and the number would lose precision.
    if (!Number.isSafeInteger(value)) throw this.#damaged(`an offset of ${String(value)}`);
    return value;
  }

  string(): string {
    return this.#take(this.int16()).toString('utf8');
  }

  nullableBytes(): Buffer | null {
    const length = this.int32();
    return length < 0 ? null : this.#take(length);
  }

  work(): Work {
    const connectors: string[] = [];
    const tasks: TaskId[] = [];
    for (let entries = this.int32(); entries > 0; entries--) {
      const connector = this.string();
      for (let left = this.int32(); left > 0; left--) {
        const number = this.int32();
        if (number === CONNECTOR_TASK) connectors.push(connector);
        else tasks.push({ connector, task: number });
      }
    }
    return { connectors, tasks };
  }

  rest(): Buffer {
    return this.#bytes.subarray(this.#at);
  }

  #take(length: number): Buffer {
    const end = this.#at + length;
    if (length < 0 || end > this.#bytes.length)
      throw this.#damaged(`${String(this.#bytes.length)} bytes end too early`);
    const part = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return part;
  }

  #damaged(reason: string): ConnectError {
    return new ConnectError(`The ${this.#what} of a member of the worker group cannot be read: ${reason}`);
  }
}
