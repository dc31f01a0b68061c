import { ResponseReader } from '../protocol/response-reader.ts';
import { Encoder, type LibraryCall } from '../library/kafkajs-internals.ts';
import { ownCall } from '../protocol/protocol.ts';

/** Version introduced with Kafka 2.0, and the oldest one that Kafka 4 accepts. */
const VERSION = 1;

export interface ReplicaSize {
  readonly topic: string;
  readonly partition: number;
  readonly bytes: number;
}

/**
 * DescribeLogDirs: sizes of the replicas that one broker has of these topics. The list is empty if the client is not
 * authorized to describe the cluster.
 */
export function logDirsCall(topics: ReadonlyMap<string, readonly number[]>): LibraryCall<readonly ReplicaSize[]> {
  const body = new Encoder().writeInt32(topics.size);
  for (const [topic, partitions] of topics) {
    body.writeString(topic).writeInt32(partitions.length);
    for (const partition of partitions) body.writeInt32(partition);
  }
  return ownCall<readonly ReplicaSize[]>('DescribeLogDirs', VERSION, body, (payload) => {
    const reader = new ResponseReader(payload);
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
          // Skips future replicas, which are being moved to another directory.
          if (!reader.boolean()) sizes.push({ topic, partition, bytes });
        });
      });
    });
    return sizes;
  });
}
