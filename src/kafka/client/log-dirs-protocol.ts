import { AnswerReader } from '../protocol/answer-reader.ts';
import { Encoder, type LibraryCall } from '../library/kafkajs-internals.ts';
import { ownCall } from '../protocol/protocol.ts';

/** Kafka 2.0, and the oldest that Kafka 4 takes. */
const VERSION = 1;

/** What a broker has of a partition. */
export interface ReplicaSize {
  readonly topic: string;
  readonly partition: number;
  readonly bytes: number;
}

/** How much of some topics a broker has in its directories; nothing of those that this client may not see. */
export function logDirsCall(topics: ReadonlyMap<string, readonly number[]>): LibraryCall<readonly ReplicaSize[]> {
  const body = new Encoder().writeInt32(topics.size);
  for (const [topic, partitions] of topics) {
    body.writeString(topic).writeInt32(partitions.length);
    for (const partition of partitions) body.writeInt32(partition);
  }
  return ownCall<readonly ReplicaSize[]>('DescribeLogDirs', VERSION, body, (payload) => {
    const reader = new AnswerReader(payload);
    const throttleMs = 4;
    reader.skip(throttleMs);
    const sizes: ReplicaSize[] = [];
    reader.each(() => {
      reader.int16();
      reader.string();
      reader.each(() => {
        const topic = reader.string();
        reader.each(() => {
          const partition = reader.int32();
          const bytes = reader.int64();
          const offsetLag = 8;
          reader.skip(offsetLag);
          // A copy that is on its way to another directory is no replica of its own.
          if (!reader.boolean()) sizes.push({ topic, partition, bytes });
        });
      });
    });
    return sizes;
  });
}
