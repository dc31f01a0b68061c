import { Encoder, type LibraryCall } from '../library/kafkajs-internals.ts';
import { AnswerReader } from '../protocol/answer-reader.ts';
import { ownCall } from '../protocol/protocol.ts';

/** Produce version 7 (Kafka 2.1): the first that takes zstd. */
const VERSION = 7;

export interface ProducedBatch {
  readonly topic: string;
  readonly partition: number;
  readonly bytes: Buffer;
}

export interface ProduceAnswer {
  readonly clientSideThrottleTime: number;
  readonly partitions: readonly { readonly topic: string; readonly partition: number; readonly errorCode: number }[];
}

export function produceCall(
  batches: readonly ProducedBatch[],
  {
    acks,
    timeoutMs,
    transactionalId,
  }: { readonly acks: number; readonly timeoutMs: number; readonly transactionalId: string | null },
): LibraryCall<ProduceAnswer> {
  const byTopic = new Map<string, ProducedBatch[]>();
  for (const batch of batches) {
    const sameTopic = byTopic.get(batch.topic);
    if (sameTopic === undefined) byTopic.set(batch.topic, [batch]);
    else sameTopic.push(batch);
  }
  const body: Buffer[] = [];
  let head = new Encoder();
  head.writeString(transactionalId).writeInt16(acks).writeInt32(timeoutMs).writeInt32(byTopic.size);
  for (const [topic, sameTopic] of byTopic) {
    head.writeString(topic).writeInt32(sameTopic.length);
    for (const { partition, bytes } of sameTopic) {
      body.push(head.writeInt32(partition).writeInt32(bytes.length).buffer, bytes);
      head = new Encoder();
    }
  }
  return ownCall('Produce', VERSION, body, decodeProduce, { expectResponse: acks !== 0 });
}

/** Per topic and partition: error code, base offset, append time, log start; then the throttle time. */
function decodeProduce(payload: Buffer): ProduceAnswer {
  const answer = new AnswerReader(payload);
  const partitions: { topic: string; partition: number; errorCode: number }[] = [];
  answer.each(() => {
    const topic = answer.string();
    answer.each(() => {
      partitions.push({ topic, partition: answer.int32(), errorCode: answer.int16() });
      const threeLongs = 24;
      answer.skip(threeLongs);
    });
  });
  return { clientSideThrottleTime: answer.int32(), partitions };
}
