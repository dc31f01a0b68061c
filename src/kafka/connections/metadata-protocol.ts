import { AnswerReader } from '../protocol/answer-reader.ts';
import { Encoder, type LibraryCall } from '../library/kafkajs-internals.ts';
import { highestVersion, ownCall, type Call } from '../protocol/protocol.ts';

export interface MetadataAnswer {
  readonly clientSideThrottleTime: number;
  readonly brokers: readonly {
    readonly nodeId: number;
    readonly host: string;
    readonly port: number;
    /** `broker.rack`; '': none. */
    readonly rack: string;
  }[];
  readonly clusterId: string | null;
  readonly controllerId: number;
  readonly topicMetadata: readonly {
    readonly topicErrorCode: number;
    readonly topic: string;
    /** As Kafka's tools print it; `undefined` where brokers have none (before Kafka 2.8). */
    readonly topicId: string | undefined;
    readonly isInternal: boolean;
    /** What the client may do with the topic, a bit for each operation of Kafka's ACLs; `undefined`: not asked for, or not told. */
    readonly operations: number | undefined;
    readonly partitionMetadata: readonly {
      readonly partitionErrorCode: number;
      readonly partitionId: number;
      /** -1: none. */
      readonly leader: number;
      /** -1: not known. */
      readonly leaderEpoch: number;
      /** Brokers that have a replica, or are to have one. */
      readonly replicas: readonly number[];
    }[];
  }[];
  /** The same for the cluster. */
  readonly clusterOperations: number | undefined;
}

type Asked = readonly string[] | 'all';

/** Kafka 2.1: leader epochs. */
const WITH_EPOCHS = 7;
/** Kafka 2.8: topic ids; flexible. */
const WITH_TOPIC_IDS = 10;
const NO_TAGS = 0;
const NO_TOPIC_ID = Buffer.alloc(16);
const OPERATIONS_NOT_TOLD = -(2 ** 31);

/**
 * Metadata of some topics, of all, or of none (brokers alone). Encoded here because the library cannot ask for none and does
 * not know topic ids, and so that topics come into being by being asked for only where `mayCreate` says so and the brokers
 * are set to do it. `withOperations`: brokers from Kafka 2.8 on also tell what the client may do.
 */
export function metadataCall(topics: Asked, mayCreate = false, withOperations = false): Call<MetadataAnswer> {
  return (ranges) =>
    highestVersion('Metadata', ranges) >= WITH_TOPIC_IDS
      ? flexible(topics, mayCreate, withOperations)
      : plain(topics, mayCreate);
}

function plain(topics: Asked, mayCreate: boolean): LibraryCall<MetadataAnswer> {
  const body = new Encoder();
  if (topics === 'all') body.writeInt32(-1);
  else body.writeArray(topics);
  body.writeBoolean(mayCreate);
  return ownCall('Metadata', WITH_EPOCHS, body, decodePlain);
}

function flexible(topics: Asked, mayCreate: boolean, withOperations: boolean): LibraryCall<MetadataAnswer> {
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

function decodePlain(payload: Buffer): MetadataAnswer {
  const reader = new AnswerReader(payload);
  return decode(reader, {
    list: (read) => reader.list(read),
    string: () => reader.nullableString(),
    topicId: () => undefined,
    operations: () => undefined,
    end: () => undefined,
  });
}

function decodeFlexible(payload: Buffer): MetadataAnswer {
  const reader = new AnswerReader(payload);
  reader.tags();
  return decode(reader, {
    list: (read) => reader.compactList(read),
    string: () => reader.compactString(),
    topicId: () => reader.uuid(),
    operations: () => {
      const operations = reader.int32();
      return operations === OPERATIONS_NOT_TOLD ? undefined : operations;
    },
    end: () => {
      reader.tags();
    },
  });
}

/** How the fields are written that differ between the versions. */
interface Form {
  list<T>(read: () => T): T[];
  string(): string;
  topicId(): string | undefined;
  operations(): number | undefined;
  end(): void;
}

function decode(reader: AnswerReader, form: Form): MetadataAnswer {
  const clientSideThrottleTime = reader.int32();
  const brokers = form.list(() => {
    const broker = { nodeId: reader.int32(), host: form.string(), port: reader.int32(), rack: form.string() };
    form.end();
    return broker;
  });
  const clusterId = form.string();
  const controllerId = reader.int32();
  const topicMetadata = form.list(() => {
    const topicErrorCode = reader.int16();
    const topic = form.string();
    const topicId = form.topicId();
    const isInternal = reader.boolean();
    const partitionMetadata = form.list(() => {
      const partitionErrorCode = reader.int16();
      const partitionId = reader.int32();
      const leader = reader.int32();
      const leaderEpoch = reader.int32();
      const replicas = form.list(() => reader.int32());
      const furtherLists = 2; // replicas in sync, replicas offline
      for (let left = furtherLists; left > 0; left--) form.list(() => reader.int32());
      form.end();
      return { partitionErrorCode, partitionId, leader, leaderEpoch, replicas };
    });
    const operations = form.operations();
    form.end();
    return { topicErrorCode, topic, topicId, isInternal, operations, partitionMetadata };
  });
  const clusterOperations = form.operations();
  return { clientSideThrottleTime, brokers, clusterId, controllerId, topicMetadata, clusterOperations };
}
