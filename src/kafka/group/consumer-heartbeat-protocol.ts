import { AnswerReader } from '../protocol/answer-reader.ts';
import { KafkaError } from '../errors.ts';
import { Encoder } from '../library/kafkajs-internals.ts';
import { highestVersion, ownCall, type Call } from '../protocol/protocol.ts';

/** Partitions by the id of their topic, as Kafka's tools print ids. */
export type PartitionsById = ReadonlyMap<string, readonly number[]>;

/** One heartbeat of a member (KIP-848); what is `undefined` has not changed since the last one. */
export interface MemberHeartbeat {
  readonly groupId: string;
  readonly memberId: string;
  /** 0: joins; -1: leaves; -2: leaves, and is expected back (static members). */
  readonly memberEpoch: number;
  readonly instanceId: string | undefined;
  readonly rackId: string | undefined;
  readonly rebalanceTimeoutMs: number | undefined;
  readonly topics: readonly string[] | undefined;
  /** RE2; '': none. */
  readonly regex: string | undefined;
  /** Of the broker; `undefined`: its default. */
  readonly assignor: string | undefined;
  readonly held: PartitionsById | undefined;
}

export interface HeartbeatAnswer {
  readonly clientSideThrottleTime: number;
  readonly errorCode: number;
  readonly errorMessage: string;
  readonly memberEpoch: number;
  readonly heartbeatIntervalMs: number;
  /** What the member is to hold; `undefined`: as before. */
  readonly assignment: PartitionsById | undefined;
}

/** Members choose their ids, and subscribe by regular expressions (Kafka 4.0). */
const VERSION = 1;
const NO_TAGS = 0;
const UNCHANGED = -1;
const UNSUPPORTED_VERSION = 35;

export function consumerHeartbeatCall(heartbeat: MemberHeartbeat): Call<HeartbeatAnswer> {
  return (ranges) => {
    if (highestVersion('ConsumerGroupHeartbeat', ranges) < VERSION) {
      throw new KafkaError(
        UNSUPPORTED_VERSION,
        'The cluster does not support the new CONSUMER group protocol. Set group.protocol=classic on the consumer configs to revert to the CLASSIC protocol until the cluster is upgraded.',
      );
    }
    return ownCall('ConsumerGroupHeartbeat', VERSION, encode(heartbeat), decode);
  };
}

function encode(heartbeat: MemberHeartbeat): InstanceType<typeof Encoder> {
  const { topics, held } = heartbeat;
  const body = new Encoder().writeUVarInt(NO_TAGS);
  body.writeUVarIntString(heartbeat.groupId).writeUVarIntString(heartbeat.memberId).writeInt32(heartbeat.memberEpoch);
  body.writeUVarIntString(heartbeat.instanceId ?? null).writeUVarIntString(heartbeat.rackId ?? null);
  body.writeInt32(heartbeat.rebalanceTimeoutMs ?? UNCHANGED).writeUVarInt(topics === undefined ? 0 : topics.length + 1);
  for (const topic of topics ?? []) body.writeUVarIntString(topic);
  body.writeUVarIntString(heartbeat.regex ?? null).writeUVarIntString(heartbeat.assignor ?? null);
  body.writeUVarInt(held === undefined ? 0 : held.size + 1);
  for (const [id, partitions] of held ?? []) {
    body.writeBuffer(Buffer.from(id, 'base64url')).writeUVarInt(partitions.length + 1);
    for (const partition of partitions) body.writeInt32(partition);
    body.writeUVarInt(NO_TAGS);
  }
  return body.writeUVarInt(NO_TAGS);
}

function decode(payload: Buffer): HeartbeatAnswer {
  const reader = new AnswerReader(payload);
  reader.tags();
  const clientSideThrottleTime = reader.int32();
  const errorCode = reader.int16();
  const errorMessage = reader.compactString();
  reader.compactString(); // id of the member, which it chose itself
  const memberEpoch = reader.int32();
  const heartbeatIntervalMs = reader.int32();
  const assignment = reader.isPresent() ? readAssignment(reader) : undefined;
  reader.tags();
  return { clientSideThrottleTime, errorCode, errorMessage, memberEpoch, heartbeatIntervalMs, assignment };
}

function readAssignment(reader: AnswerReader): PartitionsById {
  const topics = reader.compactList(() => {
    const id = reader.uuid() ?? '';
    const partitions = reader.compactList(() => reader.int32());
    reader.tags();
    return [id, partitions] as const;
  });
  reader.tags();
  return new Map(topics);
}
