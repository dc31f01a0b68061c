import { Encoder, type LibraryCall, type LibraryEncoder } from '../library/kafkajs-internals.ts';
import { ownCall } from '../protocol.ts';
import { readInt64 } from '../records/record-batch.ts';
import type { AbortedTransaction } from '../records/record-set.ts';

/**
 * Fetch version 11 (Kafka 2.3), encoded and decoded here: the library decodes every record at once into objects with
 * text offsets and loses the order of headers, at 6 to 9 µs a record; here the record sets stay bytes until they are read.
 */
const VERSION = 11;

export interface FetchPosition {
  readonly partition: number;
  readonly fetchOffset: number;
}

export interface FetchParameters {
  readonly maxWaitMs: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  readonly maxPartitionBytes: number;
  readonly readCommitted: boolean;
  /** The broker fills the answer in this order, so the caller rotates it. */
  readonly topics: ReadonlyMap<string, readonly FetchPosition[]>;
}

export interface FetchedPartition {
  readonly topic: string;
  readonly partition: number;
  readonly errorCode: number;
  /** -1 with an error. */
  readonly highWatermark: number;
  readonly aborted: readonly AbortedTransaction[];
  /** A view of the whole answer's bytes. */
  readonly records: Buffer;
}

interface FetchAnswer {
  readonly clientSideThrottleTime: number;
  readonly errorCode: number;
  readonly partitions: readonly FetchedPartition[];
}

/** Beyond what the broker waits by design. */
const NETWORK_MS = 10_000;
const CONSUMER = -1;
const NO_SESSION = { id: 0, epoch: -1 };
const NO_LEADER_EPOCH = -1;
const NO_LOG_START = -1;

export function fetchCall(parameters: FetchParameters): LibraryCall<FetchAnswer> {
  const body = new Encoder()
    .writeInt32(CONSUMER)
    .writeInt32(parameters.maxWaitMs)
    .writeInt32(parameters.minBytes)
    .writeInt32(parameters.maxBytes)
    .writeInt8(parameters.readCommitted ? 1 : 0)
    .writeInt32(NO_SESSION.id)
    .writeInt32(NO_SESSION.epoch)
    .writeInt32(parameters.topics.size);
  for (const [topic, positions] of parameters.topics) {
    body.writeString(topic).writeInt32(positions.length);
    for (const position of positions) writePosition(body, position, parameters.maxPartitionBytes);
  }
  const noForgottenTopics = 0;
  body.writeInt32(noForgottenTopics).writeString('');
  return ownCall('Fetch', VERSION, body, decodeFetch, { requestTimeoutMs: parameters.maxWaitMs + NETWORK_MS });
}

function writePosition(body: LibraryEncoder, { partition, fetchOffset }: FetchPosition, maxBytes: number): void {
  body
    .writeInt32(partition)
    .writeInt32(NO_LEADER_EPOCH)
    .writeInt64(fetchOffset)
    .writeInt64(NO_LOG_START)
    .writeInt32(maxBytes);
}

/** throttle, error, session, then per topic and partition: header, aborted transactions, preferred replica, records. */
export function decodeFetch(payload: Buffer): FetchAnswer {
  let at = 0;
  const int32 = (): number => {
    at += 4;
    return payload.readInt32BE(at - 4);
  };
  const int16 = (): number => {
    at += 2;
    return payload.readInt16BE(at - 2);
  };
  const int64 = (): number => {
    at += 8;
    return readInt64(payload, at - 8);
  };
  const clientSideThrottleTime = int32();
  const errorCode = int16();
  at += 4;
  const partitions: FetchedPartition[] = [];
  for (let topicCount = int32(); topicCount > 0; topicCount--) {
    const nameLength = int16();
    const topic = payload.toString('utf8', at, at + nameLength);
    at += nameLength;
    for (let count = int32(); count > 0; count--) {
      const partition = int32();
      const partitionError = int16();
      const highWatermark = int64();
      const stableAndStart = 16;
      at += stableAndStart;
      const aborted: AbortedTransaction[] = [];
      for (let left = int32(); left > 0; left--) aborted.push({ producerId: int64(), firstOffset: int64() });
      const preferredReplica = 4;
      at += preferredReplica;
      const size = Math.max(0, int32());
      const records = payload.subarray(at, at + size);
      at += size;
      partitions.push({ topic, partition, errorCode: partitionError, highWatermark, aborted, records });
    }
  }
  return { clientSideThrottleTime, errorCode, partitions };
}
