import { ResponseReader } from '../protocol/response-reader.ts';
import { Encoder, type LibraryCall } from '../library/kafkajs-internals.ts';
import { highestVersion, ownCall, type Call } from '../protocol/protocol.ts';

export interface MetadataResponse {
  readonly clientSideThrottleTime: number;
  readonly brokers: readonly {
    readonly nodeId: number;
    readonly host: string;
    readonly port: number;
    /** `broker.rack`; empty if not set. */
    readonly rack: string;
  }[];
  readonly clusterId: string | null;
  readonly controllerId: number;
  readonly topicMetadata: readonly {
    readonly topicErrorCode: number;
    readonly topic: string;
    /** Topic id as Kafka's tools print it; `undefined` for brokers before 2.8. */
    readonly topicId: string | undefined;
    readonly isInternal: boolean;
    /** Authorized operations as a bit set of ACL operations; `undefined` if not requested or not reported. */
    readonly operations: number | undefined;
    readonly partitionMetadata: readonly {
      readonly partitionErrorCode: number;
      readonly partitionId: number;
      /** -1 if there is no leader. */
      readonly leader: number;
      /** -1 if unknown. */
      readonly leaderEpoch: number;
      readonly replicas: readonly number[];
    }[];
  }[];
  readonly clusterOperations: number | undefined;
}

type RequestedTopics = readonly string[] | 'all';

/** Version that added leader epochs (Kafka 2.1). */
const WITH_EPOCHS = 7;
/** Version that added topic ids (Kafka 2.8). It is a flexible version. */
const WITH_TOPIC_IDS = 10;
const NO_TAGS = 0;
const NO_TOPIC_ID = Buffer.alloc(16);
const NO_OPERATIONS = -(2 ** 31);

/**
 * Requests metadata of the given topics, of all topics, or of the brokers only (an empty list). The request is
 * encoded here, because kafkajs supports neither the empty list nor topic ids. Topics are created only if `mayCreate` is set and the
 * brokers have `auto.create.topics.enable`. `withOperations` requests the authorized operations (Kafka 2.8).
 */
export function metadataCall(
  topics: RequestedTopics,
  mayCreate = false,
  withOperations = false,
): Call<MetadataResponse> {
  return (ranges) =>
    highestVersion('Metadata', ranges) >= WITH_TOPIC_IDS
      ? flexible(topics, mayCreate, withOperations)
      : plain(topics, mayCreate);
}

function plain(topics: RequestedTopics, mayCreate: boolean): LibraryCall<MetadataResponse> {
  const body = new Encoder();
  if (topics === 'all') body.writeInt32(-1);
  else body.writeArray(topics);
  body.writeBoolean(mayCreate);
  return ownCall('Metadata', WITH_EPOCHS, body, decodePlain);
}

function flexible(topics: RequestedTopics, mayCreate: boolean, withOperations: boolean): LibraryCall<MetadataResponse> {
  const body = new Encoder().writeUVarInt(NO_TAGS);
  if (topics === 'all') body.writeUVarInt(0);
  else {
    body.writeUVarInt(topics.length + 1);
    for (const topic of topics) body.writeBuffer(NO_TOPIC_ID).writeUVarIntString(topic).writeUVarInt(NO_TAGS);
  }
  const [ofCluster, ofTopics] = [withOperations, withOperations];
  body.writeBoolean(mayCreate).writeBoolean(ofCluster).writeBoolean(ofTopics).writeUVarInt(NO_TAGS);
  return ownCall('Metadata', WITH_TOPIC_IDS, body, decodeFlexible);
}

function decodePlain(payload: Buffer): MetadataResponse {
  const reader = new ResponseReader(payload);
  return decode(reader, {
    list: (read) => reader.list(read),
    string: () => reader.nullableString(),
    topicId: () => undefined,
    operations: () => undefined,
    end: () => undefined,
  });
}

function decodeFlexible(payload: Buffer): MetadataResponse {
  const reader = new ResponseReader(payload);
  reader.tags();
  return decode(reader, {
    list: (read) => reader.compactList(read),
    string: () => reader.compactString(),
    topicId: () => reader.uuid(),
    operations: () => {
      const operations = reader.int32();
      return operations === NO_OPERATIONS ? undefined : operations;
    },
    end: () => {
      reader.tags();
    },
  });
}

/** Readers of the fields whose encoding differs between the versions. */
interface FieldReaders {
  list<T>(read: () => T): T[];
  string(): string;
  topicId(): string | undefined;
  operations(): number | undefined;
  end(): void;
}

function decode(reader: ResponseReader, fields: FieldReaders): MetadataResponse {
  const clientSideThrottleTime = reader.int32();
  const brokers = fields.list(() => {
    const broker = { nodeId: reader.int32(), host: fields.string(), port: reader.int32(), rack: fields.string() };
    fields.end();
    return broker;
  });
  const clusterId = fields.string();
  const controllerId = reader.int32();
  const topicMetadata = fields.list(() => {
    const topicErrorCode = reader.int16();
    const topic = fields.string();
    const topicId = fields.topicId();
    const isInternal = reader.boolean();
    const partitionMetadata = fields.list(() => {
      const partitionErrorCode = reader.int16();
      const partitionId = reader.int32();
      const leader = reader.int32();
      const leaderEpoch = reader.int32();
      const replicas = fields.list(() => reader.int32());
      const skippedLists = 2; // in-sync and offline replicas
      for (let left = skippedLists; left > 0; left--) fields.list(() => reader.int32());
      fields.end();
      return { partitionErrorCode, partitionId, leader, leaderEpoch, replicas };
    });
    const operations = fields.operations();
    fields.end();
    return { topicErrorCode, topic, topicId, isInternal, operations, partitionMetadata };
  });
  const clusterOperations = fields.operations();
  return { clientSideThrottleTime, brokers, clusterId, controllerId, topicMetadata, clusterOperations };
}
