import { ResponseReader } from '../protocol/response-reader.ts';
import { Encoder, type LibraryCall, type LibraryEncoder } from '../library/kafkajs-internals.ts';
import { highestVersion, ownCall, type Call } from '../protocol/protocol.ts';
import type { AbortedTransaction } from '../records/record-set.ts';

/**
 * Version for brokers before Kafka 3.1, which identify topics by name, and for topics whose id is unknown. The decoder
 * of kafkajs is not used. It would decode every record into an object, at 6 to 9 µs per record, with string offsets and
 * without the order of headers. Here, record sets stay bytes until they are read.
 */
const BY_NAME = 11;
/**
 * Flexible version (KIP-482) with topic ids (KIP-516), for Kafka 3.1 and later. A position is never applied to a recreated
 * topic of the same name.
 */
const BY_ID = 13;

export interface FetchPosition {
  readonly partition: number;
  readonly fetchOffset: number;
  /** Leader epoch that this client knows, which the broker compares with its own (KIP-320); -1 if unknown. */
  readonly leaderEpoch: number;
}

export interface FetchedTopic {
  readonly id: string | undefined;
  readonly positions: readonly FetchPosition[];
}

export interface FetchParameters {
  readonly maxWaitMs: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  readonly maxPartitionBytes: number;
  readonly readCommitted: boolean;
  /** `client.rack`; empty if not set. */
  readonly rackId: string;
  /** The broker fills the response in this order, so the caller rotates the order. */
  readonly topics: ReadonlyMap<string, FetchedTopic>;
}

export interface FetchedPartition {
  readonly topic: string;
  readonly partition: number;
  readonly errorCode: number;
  /** -1 on error. */
  readonly highWatermark: number;
  /** First offset of the oldest open transaction, or the high watermark if none is open; -1 on error. */
  readonly lastStableOffset: number;
  readonly aborted: readonly AbortedTransaction[];
  /** Replica to read from instead of the leader (KIP-392); -1 for the leader. */
  readonly preferredReplica: number;
  /** A view of the buffer of the whole response. */
  readonly records: Buffer;
}

interface FetchResponse {
  readonly clientSideThrottleTime: number;
  readonly errorCode: number;
  readonly partitions: readonly FetchedPartition[];
}

/** Time for network and processing, added to `fetch.max.wait.ms` in the request timeout. */
const NETWORK_MS = 10_000;
const CONSUMER = -1;
const NO_SESSION = { id: 0, epoch: -1 };
const NO_FETCHED_EPOCH = -1;
const NO_LOG_START = -1;
const NO_TAGS = 0;

export function fetchCall(parameters: FetchParameters): Call<FetchResponse> {
  const hasIds = [...parameters.topics.values()].every(({ id }) => id !== undefined);
  return (ranges) =>
    hasIds && highestVersion('Fetch', ranges) >= BY_ID ? callById(parameters) : callByName(parameters);
}

function callByName(parameters: FetchParameters): LibraryCall<FetchResponse> {
  const body = writeLimits(new Encoder(), parameters).writeInt32(parameters.topics.size);
  for (const [topic, { positions }] of parameters.topics) {
    body.writeString(topic).writeInt32(positions.length);
    for (const { partition, leaderEpoch, fetchOffset } of positions) {
      body.writeInt32(partition).writeInt32(leaderEpoch).writeInt64(fetchOffset).writeInt64(NO_LOG_START);
      body.writeInt32(parameters.maxPartitionBytes);
    }
  }
  const noForgottenTopics = 0;
  body.writeInt32(noForgottenTopics).writeString(parameters.rackId);
  return ownCall('Fetch', BY_NAME, body, decodeFetch, { requestTimeoutMs: parameters.maxWaitMs + NETWORK_MS });
}

function callById(parameters: FetchParameters): LibraryCall<FetchResponse> {
  const names = new Map<string | undefined, string>();
  const body = writeLimits(new Encoder().writeUVarInt(NO_TAGS), parameters).writeUVarInt(parameters.topics.size + 1);
  for (const [topic, { id = '', positions }] of parameters.topics) {
    names.set(id, topic);
    body.writeBuffer(Buffer.from(id, 'base64url')).writeUVarInt(positions.length + 1);
    for (const { partition, leaderEpoch, fetchOffset } of positions) {
      body.writeInt32(partition).writeInt32(leaderEpoch).writeInt64(fetchOffset).writeInt32(NO_FETCHED_EPOCH);
      body.writeInt64(NO_LOG_START).writeInt32(parameters.maxPartitionBytes).writeUVarInt(NO_TAGS);
    }
    body.writeUVarInt(NO_TAGS);
  }
  const noForgottenTopics = 1;
  body.writeUVarInt(noForgottenTopics).writeUVarIntString(parameters.rackId).writeUVarInt(NO_TAGS);
  const decode = (payload: Buffer): FetchResponse => decodeFetchById(payload, names);
  return ownCall('Fetch', BY_ID, body, decode, { requestTimeoutMs: parameters.maxWaitMs + NETWORK_MS });
}

function writeLimits(body: LibraryEncoder, parameters: FetchParameters): LibraryEncoder {
  return body
    .writeInt32(CONSUMER)
    .writeInt32(parameters.maxWaitMs)
    .writeInt32(parameters.minBytes)
    .writeInt32(parameters.maxBytes)
    .writeInt8(parameters.readCommitted ? 1 : 0)
    .writeInt32(NO_SESSION.id)
    .writeInt32(NO_SESSION.epoch);
}

/**
 * Layout: throttle time, error, session, then per topic and partition: header, aborted transactions, preferred replica, records.
 */
function decodeFetch(payload: Buffer): FetchResponse {
  const reader = new ResponseReader(payload);
  const clientSideThrottleTime = reader.int32();
  const errorCode = reader.int16();
  reader.skip(SESSION_BYTES);
  const partitions: FetchedPartition[] = [];
  reader.each(() => {
    const topic = reader.string();
    reader.each(() => {
      const head = readHead(reader);
      const aborted = reader.list((): AbortedTransaction => {
        return { producerId: reader.int64(), firstOffset: reader.int64() };
      });
      const preferredReplica = reader.int32();
      partitions.push({ topic, ...head, aborted, preferredReplica, records: reader.bytes() });
    });
  });
  return { clientSideThrottleTime, errorCode, partitions };
}

/** Decodes the flexible version. Ignores topics that were not requested. */
function decodeFetchById(payload: Buffer, names: ReadonlyMap<string | undefined, string>): FetchResponse {
  const reader = new ResponseReader(payload);
  reader.tags();
  const clientSideThrottleTime = reader.int32();
  const errorCode = reader.int16();
  reader.skip(SESSION_BYTES);
  const partitions: FetchedPartition[] = [];
  reader.compactEach(() => {
    const topic = names.get(reader.uuid());
    reader.compactEach(() => {
      const head = readHead(reader);
      const aborted = reader.compactList((): AbortedTransaction => {
        const transaction = { producerId: reader.int64(), firstOffset: reader.int64() };
        reader.tags();
        return transaction;
      });
      const preferredReplica = reader.int32();
      const records = reader.compactBytes();
      reader.tags();
      if (topic !== undefined) partitions.push({ topic, ...head, aborted, preferredReplica, records });
    });
    reader.tags();
  });
  reader.tags();
  return { clientSideThrottleTime, errorCode, partitions };
}

const SESSION_BYTES = 4;
const LOG_START_BYTES = 8;

function readHead(
  reader: ResponseReader,
): Omit<FetchedPartition, 'topic' | 'aborted' | 'preferredReplica' | 'records'> {
  const head = {
    partition: reader.int32(),
    errorCode: reader.int16(),
    highWatermark: reader.int64(),
    lastStableOffset: reader.int64(),
  };
  reader.skip(LOG_START_BYTES);
  return head;
}
