import {
  apiKeys,
  Encoder,
  requests,
  type ApiRanges,
  type EncodedBytes,
  type LibraryCall,
} from '../library/kafkajs-internals.ts';
import { toError } from '../../errors.ts';
import { AnswerReader } from './answer-reader.ts';
import { DamagedAnswerError } from '../errors.ts';

/**
 * A request that the library encodes, with one pinned version, and how its answer is read: the library's decoders believe each
 * length. The versions are the newest that kafkajs 2.2.4 speaks; brokers from Kafka 2.3 to 4.x take them all.
 */
export interface Api<P, A> {
  readonly name: string;
  readonly version: number;
  readonly read: (reader: AnswerReader) => A;
  /** A phantom type. */
  readonly parameters?: P;
}

function declare<P, A>(name: string, version: number, read: (reader: AnswerReader) => A): Api<P, A> {
  return { name, version, read };
}

interface ThrottledAnswer {
  readonly clientSideThrottleTime: number;
  readonly errorCode: number;
}

function readThrottled(reader: AnswerReader): ThrottledAnswer {
  return { clientSideThrottleTime: reader.int32(), errorCode: reader.int16() };
}

interface CoordinatorAnswer {
  readonly errorCode: number;
  readonly errorMessage: string | null;
  readonly coordinator: { readonly nodeId: number; readonly host: string; readonly port: number };
}

export interface JoinGroupAnswer {
  readonly clientSideThrottleTime?: number;
  readonly errorCode: number;
  readonly generationId: number;
  readonly groupProtocol: string | null;
  readonly leaderId: string;
  /** Nothing is to be assigned; brokers tell static members alone. */
  readonly skipsAssignment?: boolean;
  readonly memberId: string;
  readonly members: readonly {
    readonly memberId: string;
    readonly groupInstanceId?: string | null;
    readonly memberMetadata: Buffer;
  }[];
}

interface GroupIdentity {
  readonly groupId: string;
  readonly memberId: string;
  /** `null`, absent: of a dynamic member. */
  readonly groupInstanceId?: string | null;
}

interface TransactionIdentity {
  readonly transactionalId: string;
  readonly producerId: number;
  readonly producerEpoch: number;
}

interface TopicsOf<T> {
  readonly topic: string;
  readonly partitions: readonly T[];
}

interface DescribeConfigsAnswer {
  readonly resources: readonly {
    readonly errorCode: number;
    readonly errorMessage: string | null;
    readonly configEntries: readonly { readonly configName: string; readonly configValue: string | null }[];
  }[];
}

interface TopicErrors {
  readonly topicErrors: readonly {
    readonly topic: string;
    readonly errorCode: number;
    readonly errorMessage?: string | null;
  }[];
}

export const Apis = {
  apiVersions: declare<
    undefined,
    { apiVersions: readonly { apiKey: number; minVersion: number; maxVersion: number }[]; errorCode: number }
  >('ApiVersions', 2, (reader) => ({
    errorCode: reader.int16(),
    apiVersions: reader.list(() => ({
      apiKey: reader.int16(),
      minVersion: reader.int16(),
      maxVersion: reader.int16(),
    })),
    // Brokers that do not know this version answer with version 0.
    clientSideThrottleTime: reader.hasMore ? reader.int32() : 0,
  })),
  findCoordinator: declare<{ groupId: string; coordinatorType: number }, CoordinatorAnswer>(
    'GroupCoordinator',
    2,
    (reader) => ({
      ...readThrottled(reader),
      errorMessage: reader.stringOrNull(),
      coordinator: { nodeId: reader.int32(), host: reader.string(), port: reader.int32() },
    }),
  ),
  joinGroup: declare<
    GroupIdentity & {
      sessionTimeout: number;
      rebalanceTimeout: number;
      protocolType: string;
      groupProtocols: readonly { readonly name: string; readonly metadata: Buffer }[];
    },
    JoinGroupAnswer
  >('JoinGroup', 5, (reader) => ({
    ...readThrottled(reader),
    generationId: reader.int32(),
    groupProtocol: reader.stringOrNull(),
    leaderId: reader.nullableString(),
    memberId: reader.nullableString(),
    members: reader.list(() => ({
      memberId: reader.string(),
      groupInstanceId: reader.stringOrNull(),
      memberMetadata: reader.bytes(),
    })),
  })),
  syncGroup: declare<
    GroupIdentity & {
      generationId: number;
      groupAssignment: readonly { readonly memberId: string; readonly memberAssignment: Buffer }[];
    },
    { errorCode: number; memberAssignment: Buffer | null }
  >('SyncGroup', 3, (reader) => ({ ...readThrottled(reader), memberAssignment: reader.nullableBytes() ?? null })),
  heartbeat: declare<GroupIdentity & { groupGenerationId: number }, { errorCode: number }>(
    'Heartbeat',
    3,
    readThrottled,
  ),
  leaveGroup: declare<GroupIdentity, { errorCode: number }>('LeaveGroup', 3, readThrottled),
  createTopics: declare<
    {
      timeout: number;
      validateOnly: boolean;
      topics: readonly {
        topic: string;
        numPartitions: number;
        replicationFactor: number;
        configEntries: readonly { name: string; value: string }[];
      }[];
    },
    TopicErrors
  >('CreateTopics', 3, (reader) => ({
    clientSideThrottleTime: reader.int32(),
    topicErrors: reader.list(() => ({
      topic: reader.string(),
      errorCode: reader.int16(),
      errorMessage: reader.stringOrNull(),
    })),
  })),
  deleteTopics: declare<{ topics: readonly string[]; timeout: number }, TopicErrors>('DeleteTopics', 1, (reader) => ({
    clientSideThrottleTime: reader.int32(),
    topicErrors: reader.list(() => ({ topic: reader.string(), errorCode: reader.int16() })),
  })),
  describeConfigs: declare<
    { resources: readonly { type: number; name: string; configNames: readonly string[] }[]; includeSynonyms: boolean },
    DescribeConfigsAnswer
  >('DescribeConfigs', 2, (reader) => ({
    clientSideThrottleTime: reader.int32(),
    resources: reader.list(() => {
      const errorCode = reader.int16();
      const errorMessage = reader.stringOrNull();
      reader.skip(TYPE_BYTES);
      reader.string();
      return { errorCode, errorMessage, configEntries: reader.list(() => readConfigEntry(reader)) };
    }),
  })),
  deleteGroups: declare<readonly string[], { results: readonly { groupId: string; errorCode: number }[] }>(
    'DeleteGroups',
    1,
    (reader) => ({
      clientSideThrottleTime: reader.int32(),
      results: reader.list(() => ({ groupId: reader.string(), errorCode: reader.int16() })),
    }),
  ),
  initProducerId: declare<
    { transactionalId: string | null; transactionTimeout: number },
    { errorCode: number; producerId: string; producerEpoch: number }
  >('InitProducerId', 1, (reader) => ({
    ...readThrottled(reader),
    producerId: String(reader.int64()),
    producerEpoch: reader.int16(),
  })),
  addPartitionsToTxn: declare<
    TransactionIdentity & { topics: readonly TopicsOf<number>[] },
    {
      errors: readonly {
        topic: string;
        partitionErrors: readonly { partition: number; errorCode: number }[];
      }[];
    }
  >('AddPartitionsToTxn', 1, (reader) => ({
    clientSideThrottleTime: reader.int32(),
    errors: reader.list(() => ({
      topic: reader.string(),
      partitionErrors: reader.list(() => ({ partition: reader.int32(), errorCode: reader.int16() })),
    })),
  })),
  endTxn: declare<TransactionIdentity & { transactionResult: boolean }, { errorCode: number }>(
    'EndTxn',
    1,
    readThrottled,
  ),
};

/** Of a resource, and of the source of a setting. */
const TYPE_BYTES = 1;

function readConfigEntry(reader: AnswerReader): DescribeConfigsAnswer['resources'][number]['configEntries'][number] {
  const configName = reader.string();
  const configValue = reader.stringOrNull();
  reader.boolean();
  reader.skip(TYPE_BYTES);
  reader.boolean();
  // Synonyms.
  reader.each(() => {
    reader.string();
    reader.stringOrNull();
    reader.skip(TYPE_BYTES);
  });
  return { configName, configValue };
}

type Decode<A> = (payload: Buffer) => Promise<A> | A;

/** What a decoder meets in bytes that are no such answer becomes a DamagedAnswerError. */
function guarded<A>(decode: Decode<A>): Decode<A> {
  return async (payload) => {
    try {
      return await decode(payload);
    } catch (error) {
      if (error instanceof DamagedAnswerError) throw error;
      throw new DamagedAnswerError(toError(error).message, { cause: error });
    }
  };
}

function buildCall<P, A>(name: string, version: number, parameters: P): LibraryCall<A> {
  const definition = requests[name];
  if (definition === undefined) throw new Error(`kafkajs does not know the request ${name}`);
  const build = definition.protocol({ version }) as unknown as (parameters: P) => LibraryCall<A>;
  return build(parameters);
}

/** A request that the library encodes; error codes of the answer are left as they are. */
export function libraryCall<P, A>(api: Api<P, A>, parameters: P, requestTimeoutMs?: number): LibraryCall<A> {
  const call = buildCall<P, A>(api.name, api.version, parameters);
  return {
    ...call,
    response: { decode: guarded((payload) => api.read(new AnswerReader(payload))), parse: (answer) => answer },
    ...(requestTimeoutMs === undefined ? {} : { requestTimeout: requestTimeoutMs }),
    logResponseError: false,
  };
}

/** Requests that came after the library's last release. */
const OWN_KEYS: Readonly<Record<string, number>> = {
  OffsetDelete: 47,
  DescribeQuorum: 55,
  ConsumerGroupHeartbeat: 68,
  ConsumerGroupDescribe: 69,
};

/** A request that this room encodes (and usually decodes) itself; a body in pieces is sent without being copied. */
export function ownCall<A>(
  name: string,
  version: number,
  body: EncodedBytes | readonly Buffer[],
  decode: Decode<A>,
  options: { requestTimeoutMs?: number; expectResponse?: boolean } = {},
): LibraryCall<A> {
  const pieces = 'buffer' in body ? undefined : body;
  const encoded = (): EncodedBytes => {
    if ('buffer' in body) return body;
    return body.reduce((all, piece) => all.writeBuffer(piece), new Encoder());
  };
  const expectResponse = options.expectResponse ?? true;
  return {
    request: {
      apiKey: apiKeys[name] ?? OWN_KEYS[name] ?? -1,
      apiName: name,
      apiVersion: version,
      encode: () => Promise.resolve(encoded()),
      pieces,
      expectResponse: () => expectResponse,
    },
    response: { decode: guarded(decode), parse: (answer) => answer },
    ...(options.requestTimeoutMs === undefined ? {} : { requestTimeout: options.requestTimeoutMs }),
    logResponseError: false,
  };
}

/** A request, or what makes it for a broker that takes these versions: its own newest where it has several. */
export type Call<A> = LibraryCall<A> | ((ranges: ApiRanges) => LibraryCall<A>);

/** The newest version of a request that a broker takes; -1: it does not take it. */
export function highestVersion(name: string, ranges: ApiRanges): number {
  return ranges[apiKeys[name] ?? OWN_KEYS[name] ?? -1]?.maxVersion ?? -1;
}

/** Why this broker cannot be talked to, or `undefined` when it takes the request. */
export function unsupportedReason(
  { request }: Pick<LibraryCall<unknown>, 'request'>,
  ranges: ApiRanges,
): string | undefined {
  const { apiKey, apiName, apiVersion } = request;
  const range = ranges[apiKey];
  if (range !== undefined && range.minVersion <= apiVersion && apiVersion <= range.maxVersion) return undefined;
  const offered = range === undefined ? 'not at all' : `${String(range.minVersion)} to ${String(range.maxVersion)}`;
  return `The broker does not take request ${apiName} in version ${String(apiVersion)} (it takes ${offered}); Kafka 2.3 or later is needed`;
}
