import { ResponseReader } from '../protocol/response-reader.ts';
import { KafkaError } from '../errors/kafka-errors.ts';
import { Encoder } from '../library/kafkajs-internals.ts';
import { highestVersion, ownCall, type Call } from '../protocol/protocol.ts';

/** Partitions by topic id; the ids are written as Kafka's tools print them. */
export type PartitionsById = ReadonlyMap<string, readonly number[]>;

/**
 * A ConsumerGroupHeartbeat request (KIP-848). Fields that are `undefined` are not set, or have not changed since the
 * last heartbeat.
 */
export interface MemberHeartbeat {
  readonly groupId: string;
  readonly memberId: string;
  /** The current epoch of the member. 0 joins the group, -1 leaves it, and -2 leaves it temporarily (static members). */
  readonly memberEpoch: number;
  readonly instanceId: string | undefined;
  readonly rackId: string | undefined;
  readonly rebalanceTimeoutMs: number | undefined;
  readonly topics: readonly string[] | undefined;
  /** Subscribed pattern in RE2 syntax; empty if there is none. */
  readonly regex: string | undefined;
  /** Server-side assignor; `undefined` selects the broker's default. */
  readonly assignor: string | undefined;
  readonly owned: PartitionsById | undefined;
}

export interface HeartbeatResponse {
  readonly clientSideThrottleTime: number;
  readonly errorCode: number;
  readonly errorMessage: string;
  readonly memberEpoch: number;
  readonly heartbeatIntervalMs: number;
  /** Target assignment of the member; `undefined` if it has not changed since the last response. */
  readonly assignment: PartitionsById | undefined;
}

/** Version 1 (Kafka 4.0): members generate their ids and may subscribe by pattern. */
const VERSION = 1;
const NO_TAGS = 0;
const UNCHANGED = -1;
const UNSUPPORTED_VERSION = 35;

export function consumerHeartbeatCall(heartbeat: MemberHeartbeat): Call<HeartbeatResponse> {
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
  const { topics, owned } = heartbeat;
  const body = new Encoder().writeUVarInt(NO_TAGS);
  body.writeUVarIntString(heartbeat.groupId).writeUVarIntString(heartbeat.memberId).writeInt32(heartbeat.memberEpoch);
  body.writeUVarIntString(heartbeat.instanceId ?? null).writeUVarIntString(heartbeat.rackId ?? null);
  body.writeInt32(heartbeat.rebalanceTimeoutMs ?? UNCHANGED).writeUVarInt(topics === undefined ? 0 : topics.length + 1);
  for (const topic of topics ?? []) body.writeUVarIntString(topic);
  body.writeUVarIntString(heartbeat.regex ?? null).writeUVarIntString(heartbeat.assignor ?? null);
  body.writeUVarInt(owned === undefined ? 0 : owned.size + 1);
  for (const [id, partitions] of owned ?? []) {
    body.writeBuffer(Buffer.from(id, 'base64url')).writeUVarInt(partitions.length + 1);
    for (const partition of partitions) body.writeInt32(partition);
    body.writeUVarInt(NO_TAGS);
  }
  return body.writeUVarInt(NO_TAGS);
}

function decode(payload: Buffer): HeartbeatResponse {
  const reader = new ResponseReader(payload);
  reader.tags();
  const clientSideThrottleTime = reader.int32();
  const errorCode = reader.int16();
  const errorMessage = reader.compactString();
  reader.compactString(); // member id, which the client generated
  const memberEpoch = reader.int32();
  const heartbeatIntervalMs = reader.int32();
  const assignment = reader.isPresent() ? readAssignment(reader) : undefined;
  reader.tags();
  return { clientSideThrottleTime, errorCode, errorMessage, memberEpoch, heartbeatIntervalMs, assignment };
}

function readAssignment(reader: ResponseReader): PartitionsById {
  const topics = reader.compactList(() => {
    const id = reader.uuid() ?? '';
    const partitions = reader.compactList(() => reader.int32());
    reader.tags();
    return [id, partitions] as const;
  });
  reader.tags();
  return new Map(topics);
}
