import type { TopicPartition } from '../../data/record.ts';
import { AnswerReader } from '../protocol/answer-reader.ts';
import { Encoder, type LibraryCall, type LibraryEncoder } from '../library/kafkajs-internals.ts';
import { ownCall } from '../protocol/protocol.ts';

/**
 * The requests about offsets in the versions that speak of leader epochs (KIP-320), which the library does not know:
 * OffsetCommit 6 (7 with the id of a static member), OffsetFetch 5 (both 9 with the epoch of a member, KIP-848), ListOffsets 4 (Kafka 2.1) and OffsetForLeaderEpoch 3 (Kafka 2.3).
 */
const Version = { commit: 6, commitStatic: 7, fetch: 5, list: 4, forEpoch: 3, byEpoch: 9 } as const;

/** A client that is no broker. */
const CONSUMER = -1;
const NO_TAGS = 0;

interface Throttled {
  readonly clientSideThrottleTime: number;
}

export interface CommittedOffset extends TopicPartition {
  readonly offset: number;
  /** -1: not known. */
  readonly leaderEpoch: number;
  readonly metadata: string;
}

export interface OffsetCommitAnswer extends Throttled {
  readonly partitions: readonly (TopicPartition & { readonly errorCode: number })[];
}

/** Who commits: a member in its generation, or a plain client (`memberId` empty, `generationId` -1). */
export interface Committer {
  readonly groupId: string;
  readonly memberId: string;
  readonly generationId: number;
  /** Of a static member. */
  readonly instanceId?: string | undefined;
  /** A member of a group whose broker divides the partitions: the generation is its epoch (KIP-848). */
  readonly isByEpoch?: boolean;
}

export function offsetCommitCall(
  committer: Committer,
  offsets: readonly CommittedOffset[],
): LibraryCall<OffsetCommitAnswer> {
  const { groupId, memberId, generationId, instanceId, isByEpoch } = committer;
  if (isByEpoch === true) return offsetCommitByEpoch(committer, offsets);
  const body = new Encoder().writeString(groupId).writeInt32(generationId).writeString(memberId);
  if (instanceId !== undefined) body.writeString(instanceId);
  writeTopics(body, offsets, ({ partition, offset, leaderEpoch, metadata }) => {
    body.writeInt32(partition).writeInt64(offset).writeInt32(leaderEpoch).writeString(metadata);
  });
  return ownCall<OffsetCommitAnswer>(
    'OffsetCommit',
    instanceId === undefined ? Version.commit : Version.commitStatic,
    body,
    (payload) => {
      const reader = new AnswerReader(payload);
      const clientSideThrottleTime = reader.int32();
      const partitions = readTopics(reader, () => ({ partition: reader.int32(), errorCode: reader.int16() }));
      return { clientSideThrottleTime, partitions };
    },
  );
}

/** Flexible, else as before; members are told when their epoch is an old one. */
function offsetCommitByEpoch(
  { groupId, memberId, generationId, instanceId }: Committer,
  offsets: readonly CommittedOffset[],
): LibraryCall<OffsetCommitAnswer> {
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
  return ownCall<OffsetCommitAnswer>('OffsetCommit', Version.byEpoch, body, (payload) => {
    const reader = new AnswerReader(payload);
    reader.tags();
    const clientSideThrottleTime = reader.int32();
    const partitions = readCompactTopics(reader, () => ({ partition: reader.int32(), errorCode: reader.int16() }));
    reader.tags();
    return { clientSideThrottleTime, partitions };
  });
}

/** As a member reads offsets: only those of its own epoch are the last ones. */
export function offsetFetchByEpochCall(
  { groupId, memberId, generationId }: Committer,
  wanted: readonly TopicPartition[],
): LibraryCall<OffsetFetchAnswer> {
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
  return ownCall<OffsetFetchAnswer>('OffsetFetch', Version.byEpoch, body, (payload) => {
    const reader = new AnswerReader(payload);
    reader.tags();
    const clientSideThrottleTime = reader.int32();
    const answers = reader.compactList(() => {
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
    const errorCode = answers.find((answer) => answer.errorCode !== 0)?.errorCode ?? 0;
    return { clientSideThrottleTime, errorCode, partitions: answers.flatMap(({ partitions }) => partitions) };
  });
}

export interface OffsetFetchAnswer extends Throttled {
  readonly errorCode: number;
  /** The offset is -1 where there is none. */
  readonly partitions: readonly (CommittedOffset & { readonly errorCode: number })[];
}

/** `undefined`: of all partitions that the group has an offset for. */
export function offsetFetchCall(
  groupId: string,
  wanted: readonly TopicPartition[] | undefined,
): LibraryCall<OffsetFetchAnswer> {
  const body = new Encoder().writeString(groupId);
  if (wanted === undefined) body.writeInt32(-1);
  else writeTopics(body, wanted, ({ partition }) => body.writeInt32(partition));
  return ownCall<OffsetFetchAnswer>('OffsetFetch', Version.fetch, body, (payload) => {
    const reader = new AnswerReader(payload);
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

export interface ListOffsetsAnswer extends Throttled {
  readonly partitions: readonly (TopicPartition & {
    readonly errorCode: number;
    readonly offset: number;
    /** -1: not known. */
    readonly leaderEpoch: number;
  })[];
}

export function listOffsetsCall(
  isolationLevel: number,
  timestamp: number,
  wanted: readonly (TopicPartition & { readonly currentLeaderEpoch: number })[],
): LibraryCall<ListOffsetsAnswer> {
  const body = new Encoder().writeInt32(CONSUMER).writeInt8(isolationLevel);
  writeTopics(body, wanted, ({ partition, currentLeaderEpoch }) => {
    body.writeInt32(partition).writeInt32(currentLeaderEpoch).writeInt64(timestamp);
  });
  return ownCall<ListOffsetsAnswer>('ListOffsets', Version.list, body, (payload) => {
    const reader = new AnswerReader(payload);
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
  /** The newest epoch of the leader's log that is not newer than the one asked for; -1: it has none. */
  readonly leaderEpoch: number;
  /** The offset behind the last record of that epoch; -1: not known. */
  readonly endOffset: number;
}

export interface EpochEndsAnswer extends Throttled {
  readonly partitions: readonly EpochEnd[];
}

export function epochEndsCall(
  wanted: readonly (TopicPartition & { readonly currentLeaderEpoch: number; readonly leaderEpoch: number })[],
): LibraryCall<EpochEndsAnswer> {
  const body = new Encoder().writeInt32(CONSUMER);
  writeTopics(body, wanted, ({ partition, currentLeaderEpoch, leaderEpoch }) => {
    body.writeInt32(partition).writeInt32(currentLeaderEpoch).writeInt32(leaderEpoch);
  });
  return ownCall<EpochEndsAnswer>('OffsetForLeaderEpoch', Version.forEpoch, body, (payload) => {
    const reader = new AnswerReader(payload);
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

/** Of flexible versions; entries end with further fields. */
function readCompactTopics<T>(reader: AnswerReader, read: () => T): (T & { topic: string })[] {
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

function readTopics<T>(reader: AnswerReader, read: () => T): (T & { topic: string })[] {
  const partitions: (T & { topic: string })[] = [];
  reader.each(() => {
    const topic = reader.string();
    reader.each(() => partitions.push({ topic, ...read() }));
  });
  return partitions;
}
