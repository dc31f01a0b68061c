import { SluiceError } from '../../errors.ts';

/** Confluent's wire format is a zero byte, the schema id as four bytes in big-endian order, and the value. */
export const WIRE_PREFIX_BYTES = 5;

const MAGIC_BYTE = 0;

/** The schema id of a message; -1 if the message does not have the wire format. */
export function schemaIdOf(message: Buffer, from: number, to: number): number {
  return to - from < WIRE_PREFIX_BYTES || message[from] !== MAGIC_BYTE ? -1 : message.readInt32BE(from + 1);
}

export function wirePrefix(id: number): Buffer {
  const prefix = Buffer.alloc(WIRE_PREFIX_BYTES, MAGIC_BYTE);
  prefix.writeInt32BE(id, 1);
  return prefix;
}

/** The exception of Java's serializers. */
export class SerializationError extends SluiceError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { ...options, scope: 'record', javaName: 'org.apache.kafka.common.errors.SerializationException' });
  }
}
