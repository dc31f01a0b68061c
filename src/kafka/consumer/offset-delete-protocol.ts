import type { TopicPartition } from '../../data/record.ts';
import { AnswerReader } from '../protocol/answer-reader.ts';
import { Encoder, type LibraryCall } from '../library/kafkajs-internals.ts';
import { ownCall } from '../protocol/protocol.ts';

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
  const answer = new AnswerReader(payload);
  const errorCode = answer.int16();
  const throttle = 4;
  answer.skip(throttle);
  const partitions: (TopicPartition & { errorCode: number })[] = [];
  answer.each(() => {
    const topic = answer.string();
    answer.each(() => partitions.push({ topic, partition: answer.int32(), errorCode: answer.int16() }));
  });
  return { errorCode, partitions };
}
