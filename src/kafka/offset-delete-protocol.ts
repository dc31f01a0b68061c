import type { TopicPartition } from '../data/record.ts';
import { Encoder, type LibraryCall } from './library/kafkajs-internals.ts';
import { ownCall } from './protocol.ts';

const VERSION = 0;

export interface OffsetDeleteAnswer {
  readonly errorCode: number;
  readonly partitions: readonly (TopicPartition & { readonly errorCode: number })[];
}

/** OffsetDelete version 0 (Kafka 2.4), which the library does not know. */
export function offsetDeleteCall(
  groupId: string,
  topics: readonly { readonly topic: string; readonly partitions: readonly number[] }[],
): LibraryCall<OffsetDeleteAnswer> {
  const body = new Encoder().writeString(groupId).writeInt32(topics.length);
  for (const { topic, partitions } of topics) {
    body.writeString(topic).writeInt32(partitions.length);
    for (const partition of partitions) body.writeInt32(partition);
  }
  return ownCall('OffsetDelete', VERSION, body, decode);
}

/** error_code, throttle_time_ms, then topics with partitions: index and error_code each. */
function decode(payload: Buffer): OffsetDeleteAnswer {
  const errorCode = payload.readInt16BE(0);
  const partitions: (TopicPartition & { errorCode: number })[] = [];
  let at = 6;
  const count = (): number => {
    at += 4;
    return payload.readInt32BE(at - 4);
  };
  for (let topics = count(); topics > 0; topics--) {
    const length = payload.readInt16BE(at);
    const topic = payload.toString('utf8', at + 2, at + 2 + length);
    at += 2 + length;
    for (let left = count(); left > 0; left--) {
      partitions.push({ topic, partition: payload.readInt32BE(at), errorCode: payload.readInt16BE(at + 4) });
      at += 6;
    }
  }
  return { errorCode, partitions };
}
