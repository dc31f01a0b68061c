import type { TopicPartition } from '../../data/record.ts';
import { ResponseReader } from '../protocol/response-reader.ts';
import { Encoder, type LibraryCall, type LibraryEncoder } from '../library/kafkajs-internals.ts';
import { ownCall } from '../protocol/protocol.ts';

/**
 * Offset requests in versions with leader epochs (KIP-320), which kafkajs does not support: OffsetCommit 6 (7 with an instance
 * id), OffsetFetch 5 and ListOffsets 4 (Kafka 2.1), OffsetForLeaderEpoch 3 (Kafka 2.3). Members of KIP-848 groups use version 9
 * of OffsetCommit and OffsetFetch, which contain the member epoch.
 */
const Version = { commit: 6, commitStatic: 7, fetch: 5, list: 4, forEpoch: 3, withMemberEpoch: 9 } as const;

/** Replica id that marks the sender as a consumer. */
const CONSUMER = -1;
const NO_TAGS = 0;

interface Throttled {
  readonly clientSideThrottleTime: number;
}

export interface CommittedOffset extends TopicPartition {
  readonly offset: number;
  /** -1 if unknown. */
  readonly leaderEpoch: number;
  readonly metadata: string;
}

export interface OffsetCommitResponse extends Throttled {
  readonly partitions: readonly (TopicPartition & { readonly errorCode: number })[];
}

/** The committing member in its generation, or a simple consumer (empty `memberId`, `generationId` -1). */
export interface Committer {
  readonly groupId: string;
  readonly memberId: string;
  readonly generationId: number;
  readonly instanceId?: string | undefined;
  /** True for a KIP-848 member, whose `generationId` is its member epoch. */
  readonly isEpochMember?: boolean;
}

export function offsetCommitCall(
  committer: Committer,
  offsets: readonly CommittedOffset[],
): LibraryCall<OffsetCommitResponse> {
  const { groupId, memberId, generationId, instanceId, isEpochMember } = committer;
  if (isEpochMember === true) return offsetCommitByMember(committer, offsets);
  const body = new Encoder().writeString(groupId).writeInt32(generationId).writeString(memberId);
  if (instanceId !== undefined) body.writeString(instanceId);
  writeTopics(body, offsets, ({ partition, offset, leaderEpoch, metadata }) => {
    body.writeInt32(partition).writeInt64(offset).writeInt32(leaderEpoch).writeString(metadata);
  });
  return ownCall<OffsetCommitResponse>(
    'OffsetCommit',
    instanceId === undefined ? Version.commit : Version.commitStatic,
    body,
    (payload) => {
      const reader = new ResponseReader(payload);
      const clientSideThrottleTime = reader.int32();
      const partitions = readTopics(reader, () => ({ partition: reader.int32(), errorCode: reader.int16() }));
      return { clientSideThrottleTime, partitions };
    },
  );
}

/** Encodes the flexible version, in which the broker rejects stale member epochs. */
function offsetCommitByMember(
  { groupId, memberId, generationId, instanceId }: Committer,
  offsets: readonly CommittedOffset[],
): LibraryCall<OffsetCommitResponse> {
  const topics = byTopic(offsets);
  const body = new Encoder().writeUVarInt(NO_TAGS).writeUVarIntString(groupId).writeInt32(generationId);
  body
    .writeUVarIntString(memberId)
    .writeUVarIntString(instanceId ?? null)
    .writeUVarInt(topics.size + 1);
  for (const [topic, ofTopic] of topics) {
    body.writeUVarIntString(topic).writeUVarInt(ofTopic.length + 1);
    for (const { partition, offset, leaderEpoch, metadata } of ofTopic) {
      body.writeInt32(partition).writeInt64(offset).writeInt32(leaderEpoch).writeUVarIntString(metadata);
      body.writeUVarInt(NO_TAGS);
    }
    body.writeUVarInt(NO_TAGS);
  }
  body.writeUVarInt(NO_TAGS);
  return ownCall<OffsetCommitResponse>('OffsetCommit', Version.withMemberEpoch, body, (payload) => {
    const reader = new ResponseReader(payload);
    reader.tags();
    const clientSideThrottleTime = reader.int32();
    const partitions = readCompactTopics(reader, () => ({ partition: reader.int32(), errorCode: reader.int16() }));
    reader.tags();
    return { clientSideThrottleTime, partitions };
  });
}

/**
 * OffsetFetch as a member. The broker rejects a stale member epoch, so a member that has missed a rebalance gets an error, not
 * outdated offsets.
 */
export function offsetFetchByMemberCall(
  { groupId, memberId, generationId }: Committer,
  wanted: readonly TopicPartition[],
): LibraryCall<OffsetFetchResponse> {
  const topics = byTopic(wanted);
  const groups = 1;
  const body = new Encoder()
    .writeUVarInt(NO_TAGS)
    .writeUVarInt(groups + 1)
    .writeUVarIntString(groupId);
  body
    .writeUVarIntString(memberId)
    .writeInt32(generationId)
    .writeUVarInt(topics.size + 1);
  for (const [topic, ofTopic] of topics) {
    body.writeUVarIntString(topic).writeUVarInt(ofTopic.length + 1);
    for (const { partition } of ofTopic) body.writeInt32(partition);
    body.writeUVarInt(NO_TAGS);
  }
  const requireStable = true;
  body.writeUVarInt(NO_TAGS).writeBoolean(requireStable).writeUVarInt(NO_TAGS);
  return ownCall<OffsetFetchResponse>('OffsetFetch', Version.withMemberEpoch, body, (payload) => {
    const reader = new ResponseReader(payload);
    reader.tags();
    const clientSideThrottleTime = reader.int32();
    const responses = reader.compactList(() => {
      reader.compactString(); // the group
      const partitions = readCompactTopics(reader, () => ({
        partition: reader.int32(),
        offset: reader.int64(),
        leaderEpoch: reader.int32(),
        metadata: reader.compactString(),
        errorCode: reader.int16(),
      }));
      const errorCode = reader.int16();
      reader.tags();
      return { errorCode, partitions };
    });
    reader.tags();
    const errorCode = responses.find((response) => response.errorCode !== 0)?.errorCode ?? 0;
    return { clientSideThrottleTime, errorCode, partitions: responses.flatMap(({ partitions }) => partitions) };
  });
}

export interface OffsetFetchResponse extends Throttled {
  readonly errorCode: number;
  /** `offset` is -1 if none is committed. */
  readonly partitions: readonly (CommittedOffset & { readonly errorCode: number })[];
}

/** Requests committed offsets. If `wanted` is `undefined`, requests all partitions with a committed offset. */
export function offsetFetchCall(
  groupId: string,
  wanted: readonly TopicPartition[] | undefined,
): LibraryCall<OffsetFetchResponse> {
  const body = new Encoder().writeString(groupId);
  if (wanted === undefined) body.writeInt32(-1);
  else writeTopics(body, wanted, ({ partition }) => body.writeInt32(partition));
  return ownCall<OffsetFetchResponse>('OffsetFetch', Version.fetch, body, (payload) => {
    const reader = new ResponseReader(payload);
    const clientSideThrottleTime = reader.int32();
    const partitions = readTopics(reader, () => ({
      partition: reader.int32(),
      offset: reader.int64(),
      leaderEpoch: reader.int32(),
      metadata: reader.nullableString(),
      errorCode: reader.int16(),
    }));
    return { clientSideThrottleTime, partitions, errorCode: reader.int16() };
  });
}

export interface ListOffsetsResponse extends Throttled {
  readonly partitions: readonly (TopicPartition & {
    readonly errorCode: number;
    readonly offset: number;
    /** -1 if unknown. */
    readonly leaderEpoch: number;
  })[];
}

export function listOffsetsCall(
  isolationLevel: number,
  timestamp: number,
  wanted: readonly (TopicPartition & { readonly currentLeaderEpoch: number })[],
): LibraryCall<ListOffsetsResponse> {
  const body = new Encoder().writeInt32(CONSUMER).writeInt8(isolationLevel);
  writeTopics(body, wanted, ({ partition, currentLeaderEpoch }) => {
    body.writeInt32(partition).writeInt32(currentLeaderEpoch).writeInt64(timestamp);
  });
  return ownCall<ListOffsetsResponse>('ListOffsets', Version.list, body, (payload) => {
    const reader = new ResponseReader(payload);
    const clientSideThrottleTime = reader.int32();
    const partitions = readTopics(reader, () => {
      const partition = reader.int32();
      const errorCode = reader.int16();
      reader.int64(); // timestamp
      return { partition, errorCode, offset: reader.int64(), leaderEpoch: reader.int32() };
    });
    return { clientSideThrottleTime, partitions };
  });
}

export interface EpochEnd extends TopicPartition {
  readonly errorCode: number;
  /** The newest epoch in the leader's log that is not newer than the requested one; -1 if there is none. */
  readonly leaderEpoch: number;
  /** The offset after the last record of that epoch; -1 if unknown. */
  readonly endOffset: number;
}

export interface EpochEndsResponse extends Throttled {
  readonly partitions: readonly EpochEnd[];
}

export function epochEndsCall(
  wanted: readonly (TopicPartition & { readonly currentLeaderEpoch: number; readonly leaderEpoch: number })[],
): LibraryCall<EpochEndsResponse> {
  const body = new Encoder().writeInt32(CONSUMER);
  writeTopics(body, wanted, ({ partition, currentLeaderEpoch, leaderEpoch }) => {
    body.writeInt32(partition).writeInt32(currentLeaderEpoch).writeInt32(leaderEpoch);
  });
  return ownCall<EpochEndsResponse>('OffsetForLeaderEpoch', Version.forEpoch, body, (payload) => {
    const reader = new ResponseReader(payload);
    const clientSideThrottleTime = reader.int32();
    const partitions = readTopics(reader, () => {
      const errorCode = reader.int16();
      return { errorCode, partition: reader.int32(), leaderEpoch: reader.int32(), endOffset: reader.int64() };
    });
    return { clientSideThrottleTime, partitions };
  });
}

function writeTopics<P extends TopicPartition>(
  body: LibraryEncoder,
  partitions: readonly P[],
  write: (partition: P) => void,
): void {
  const topics = byTopic(partitions);
  body.writeInt32(topics.size);
  for (const [topic, ofTopic] of topics) {
    body.writeString(topic).writeInt32(ofTopic.length);
    for (const each of ofTopic) write(each);
  }
}

function byTopic<P extends TopicPartition>(partitions: readonly P[]): Map<string, P[]> {
  const topics = new Map<string, P[]>();
  for (const each of partitions) {
    const ofTopic = topics.get(each.topic);
    if (ofTopic === undefined) topics.set(each.topic, [each]);
    else ofTopic.push(each);
  }
  return topics;
}

/** Reads topics in flexible versions, in which each entry ends with tagged fields. */
function readCompactTopics<T>(reader: ResponseReader, read: () => T): (T & { topic: string })[] {
  const partitions: (T & { topic: string })[] = [];
  reader.compactEach(() => {
    const topic = reader.compactString();
    reader.compactEach(() => {
      partitions.push({ topic, ...read() });
      reader.tags();
    });
    reader.tags();
  });
  return partitions;
}

function readTopics<T>(reader: ResponseReader, read: () => T): (T & { topic: string })[] {
  const partitions: (T & { topic: string })[] = [];
  reader.each(() => {
    const topic = reader.string();
    reader.each(() => partitions.push({ topic, ...read() }));
  });
  return partitions;
}
