import { Encoder, type LibraryCall } from '../library/kafkajs-internals.ts';
import { ownCall } from '../protocol.ts';

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
  const body = new Encoder();
  body.writeString(transactionalId).writeInt16(acks).writeInt32(timeoutMs).writeInt32(byTopic.size);
  for (const [topic, sameTopic] of byTopic) {
    body.writeString(topic).writeInt32(sameTopic.length);
    for (const { partition, bytes } of sameTopic) body.writeInt32(partition).writeBytes(bytes);
  }
  return ownCall('Produce', VERSION, body, decodeProduce, { expectResponse: acks !== 0 });
}

/** Per topic and partition: error code, base offset, append time, log start; then the throttle time. */
function decodeProduce(payload: Buffer): ProduceAnswer {
  let at = 0;
  const int32 = (): number => {
    at += 4;
    return payload.readInt32BE(at - 4);
  };
  const partitions: { topic: string; partition: number; errorCode: number }[] = [];
  for (let topicCount = int32(); topicCount > 0; topicCount--) {
    const nameLength = payload.readInt16BE(at);
    const topic = payload.toString('utf8', at + 2, at + 2 + nameLength);
    at += 2 + nameLength;
    for (let count = int32(); count > 0; count--) {
      const partition = int32();
      partitions.push({ topic, partition, errorCode: payload.readInt16BE(at) });
      const errorAndThreeLongs = 26;
      at += errorAndThreeLongs;
    }
  }
  return { clientSideThrottleTime: int32(), partitions };
}
