import type { TopicPartition } from '../../data/record.ts';
import { ResponseReader } from '../protocol/response-reader.ts';
import { Encoder, type LibraryCall } from '../library/kafkajs-internals.ts';
import { ownCall } from '../protocol/protocol.ts';

const VERSION = 0;

export interface OffsetDeleteResponse {
  readonly errorCode: number;
  readonly partitions: readonly (TopicPartition & { readonly errorCode: number })[];
}

/** OffsetDelete version 0 (Kafka 2.4), which kafkajs does not support. */
export function offsetDeleteCall(
  groupId: string,
  topics: readonly { readonly topic: string; readonly partitions: readonly number[] }[],
): LibraryCall<OffsetDeleteResponse> {
  const body = new Encoder().writeString(groupId).writeInt32(topics.length);
  for (const { topic, partitions } of topics) {
    body.writeString(topic).writeInt32(partitions.length);
    for (const partition of partitions) body.writeInt32(partition);
  }
  return ownCall('OffsetDelete', VERSION, body, decode);
}

/** Layout: error code, throttle time, then index and error code by topic and partition. */
function decode(payload: Buffer): OffsetDeleteResponse {
  const response = new ResponseReader(payload);
  const errorCode = response.int16();
  const throttle = 4;
  response.skip(throttle);
  const partitions: (TopicPartition & { errorCode: number })[] = [];
  response.each(() => {
    const topic = response.string();
    response.each(() => partitions.push({ topic, partition: response.int32(), errorCode: response.int16() }));
  });
  return { errorCode, partitions };
}
