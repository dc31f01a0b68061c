import { DataError } from '../../errors.ts';
import type { MessageType } from './protobuf-files.ts';
import { loadProtobuf } from './protobuf-files.ts';

/**
 * Message indexes of Confluent's wire format, which identify the message type of a value. The path contains the position of a
 * message in the file, then the position of a message nested in it, and so on. It is encoded as a count followed by zigzag
 * varints; the path of the file's first message is abbreviated to a single zero.
 */
export interface MessageIndexes {
  readonly path: readonly number[];
  /** Position after the last byte. */
  readonly end: number;
}

const FIRST: readonly number[] = [0];
const MAX_DEPTH = 100;

export function readMessageIndexes(message: Buffer, from: number, to: number): MessageIndexes {
  if (message[from] === 0 && from < to) return { path: FIRST, end: from + 1 };
  const { Reader } = loadProtobuf();
  const reader = Reader.create(message.subarray(0, to));
  reader.pos = from;
  try {
    const count = reader.sint32();
    if (count < 0 || count > MAX_DEPTH) throw new DataError(`invalid number of indexes: ${String(count)}`);
    const path = Array.from({ length: count }, () => reader.sint32());
    return { path: count === 0 ? FIRST : path, end: reader.pos };
  } catch (error) {
    throw new DataError('The message indexes cannot be read', { cause: error });
  }
}

export function messageIndexBytes(path: readonly number[]): Uint8Array {
  if (path.length === 1 && path[0] === 0) return Uint8Array.of(0);
  const writer = loadProtobuf().Writer.create();
  writer.sint32(path.length);
  for (const index of path) writer.sint32(index);
  return writer.finish();
}

/** Returns the message type at a path. Throws a DataError if it does not exist. */
export function messageAt(messages: readonly MessageType[], path: readonly number[]): MessageType {
  let among = messages;
  let found: MessageType | undefined;
  for (const index of path) {
    found = among[index];
    if (found === undefined) break;
    among = nestedMessages(found);
  }
  if (found === undefined) throw new DataError(`The schema has no message at [${path.join(', ')}]`);
  return found;
}

/** Returns the path of the first message with this full or simple name; `undefined` if there is none. */
export function pathOf(messages: readonly MessageType[], name: string): readonly number[] | undefined {
  for (const [index, message] of messages.entries()) {
    if (message.fullName === `.${name}` || message.name === name) return [index];
  }
  for (const [index, message] of messages.entries()) {
    const inner = pathOf(nestedMessages(message), name);
    if (inner !== undefined) return [index, ...inner];
  }
  return undefined;
}

function nestedMessages(message: MessageType): MessageType[] {
  const { Type } = loadProtobuf();
  return message.nestedArray.filter((each): each is MessageType => each instanceof Type);
}
