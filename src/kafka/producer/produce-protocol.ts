import { Encoder, type LibraryCall } from '../library/kafkajs-internals.ts';
import { ResponseReader } from '../protocol/response-reader.ts';
import { ownCall } from '../protocol/protocol.ts';

/** Produce version 7 (Kafka 2.1), the first with zstd. */
const VERSION = 7;

export interface ProducedBatch {
  readonly topic: string;
  readonly partition: number;
  readonly bytes: Buffer;
}

export interface ProduceResponse {
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
): LibraryCall<ProduceResponse> {
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

function decodeProduce(payload: Buffer): ProduceResponse {
  const response = new ResponseReader(payload);
  const partitions: { topic: string; partition: number; errorCode: number }[] = [];
  response.each(() => {
    const topic = response.string();
    response.each(() => {
      partitions.push({ topic, partition: response.int32(), errorCode: response.int16() });
      const threeLongs = 24;
      response.skip(threeLongs);
    });
  });
  return { clientSideThrottleTime: response.int32(), partitions };
}
