import {
  apiKeys,
  Encoder,
  requests,
  type ApiRanges,
  type EncodedBytes,
  type LibraryCall,
} from '../library/kafkajs-internals.ts';
import { toError } from '../../errors.ts';
import { ResponseReader } from './response-reader.ts';
import { MalformedResponseError } from '../errors/kafka-errors.ts';

/**
 * A request that kafkajs encodes in one pinned version, and the decoder of its response (kafkajs' own decoders do not check
 * lengths). The versions are the newest that kafkajs 2.2.4 supports; brokers from Kafka 2.4 to 4.x accept them all.
 */
export interface Api<P, A> {
  readonly name: string;
  readonly version: number;
  readonly read: (reader: ResponseReader) => A;
  /** Phantom type; never set. */
  readonly parameters?: P;
}

function declareApi<P, A>(name: string, version: number, read: (reader: ResponseReader) => A): Api<P, A> {
  return { name, version, read };
}

interface ThrottledResponse {
  readonly clientSideThrottleTime: number;
  readonly errorCode: number;
}

function readThrottled(reader: ResponseReader): ThrottledResponse {
  return { clientSideThrottleTime: reader.int32(), errorCode: reader.int16() };
}

interface CoordinatorResponse {
  readonly errorCode: number;
  readonly errorMessage: string | null;
  readonly coordinator: { readonly nodeId: number; readonly host: string; readonly port: number };
}

export interface JoinGroupResponse {
  readonly clientSideThrottleTime?: number;
  readonly errorCode: number;
  readonly generationId: number;
  readonly groupProtocol: string | null;
  readonly leaderId: string;
  /** Set for a returning static leader, if the group keeps its assignments. */
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
  /** `null` or absent for a dynamic member. */
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

interface DescribeConfigsResponse {
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
  apiVersions: declareApi<
    undefined,
    { apiVersions: readonly { apiKey: number; minVersion: number; maxVersion: number }[]; errorCode: number }
  >('ApiVersions', 2, (reader) => ({
    errorCode: reader.int16(),
    apiVersions: reader.list(() => ({
      apiKey: reader.int16(),
      minVersion: reader.int16(),
      maxVersion: reader.int16(),
    })),
    // Brokers that do not support this version respond with version 0.
    clientSideThrottleTime: reader.hasMore ? reader.int32() : 0,
  })),
  findCoordinator: declareApi<{ groupId: string; coordinatorType: number }, CoordinatorResponse>(
    'GroupCoordinator',
    2,
    (reader) => ({
      ...readThrottled(reader),
      errorMessage: reader.stringOrNull(),
      coordinator: { nodeId: reader.int32(), host: reader.string(), port: reader.int32() },
    }),
  ),
  joinGroup: declareApi<
    GroupIdentity & {
      sessionTimeout: number;
      rebalanceTimeout: number;
      protocolType: string;
      groupProtocols: readonly { readonly name: string; readonly metadata: Buffer }[];
    },
    JoinGroupResponse
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
  syncGroup: declareApi<
    GroupIdentity & {
      generationId: number;
      groupAssignment: readonly { readonly memberId: string; readonly memberAssignment: Buffer }[];
    },
    { errorCode: number; memberAssignment: Buffer | null }
  >('SyncGroup', 3, (reader) => ({ ...readThrottled(reader), memberAssignment: reader.nullableBytes() ?? null })),
  heartbeat: declareApi<GroupIdentity & { groupGenerationId: number }, { errorCode: number }>(
    'Heartbeat',
    3,
    readThrottled,
  ),
  leaveGroup: declareApi<GroupIdentity, { errorCode: number }>('LeaveGroup', 3, readThrottled),
  createTopics: declareApi<
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
  deleteTopics: declareApi<{ topics: readonly string[]; timeout: number }, TopicErrors>(
    'DeleteTopics',
    1,
    (reader) => ({
      clientSideThrottleTime: reader.int32(),
      topicErrors: reader.list(() => ({ topic: reader.string(), errorCode: reader.int16() })),
    }),
  ),
  describeConfigs: declareApi<
    { resources: readonly { type: number; name: string; configNames: readonly string[] }[]; includeSynonyms: boolean },
    DescribeConfigsResponse
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
  deleteGroups: declareApi<readonly string[], { results: readonly { groupId: string; errorCode: number }[] }>(
    'DeleteGroups',
    1,
    (reader) => ({
      clientSideThrottleTime: reader.int32(),
      results: reader.list(() => ({ groupId: reader.string(), errorCode: reader.int16() })),
    }),
  ),
  initProducerId: declareApi<
    { transactionalId: string | null; transactionTimeout: number },
    { errorCode: number; producerId: string; producerEpoch: number }
  >('InitProducerId', 1, (reader) => ({
    ...readThrottled(reader),
    producerId: String(reader.int64()),
    producerEpoch: reader.int16(),
  })),
  addPartitionsToTxn: declareApi<
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
  endTxn: declareApi<TransactionIdentity & { transactionResult: boolean }, { errorCode: number }>(
    'EndTxn',
    1,
    readThrottled,
  ),
};

/** A resource type or a config source takes one byte. */
const TYPE_BYTES = 1;

function readConfigEntry(
  reader: ResponseReader,
): DescribeConfigsResponse['resources'][number]['configEntries'][number] {
  const configName = reader.string();
  const configValue = reader.stringOrNull();
  reader.boolean();
  reader.skip(TYPE_BYTES);
  reader.boolean();
  // Skips the synonyms.
  reader.each(() => {
    reader.string();
    reader.stringOrNull();
    reader.skip(TYPE_BYTES);
  });
  return { configName, configValue };
}

type Decode<A> = (payload: Buffer) => Promise<A> | A;

/** Turns exceptions of a decoder into MalformedResponseError. */
function withMalformedErrors<A>(decode: Decode<A>): Decode<A> {
  return async (payload) => {
    try {
      return await decode(payload);
    } catch (error) {
      if (error instanceof MalformedResponseError) throw error;
      throw new MalformedResponseError(toError(error).message, { cause: error });
    }
  };
}

function buildCall<P, A>(name: string, version: number, parameters: P): LibraryCall<A> {
  const definition = requests[name];
  if (definition === undefined) throw new Error(`kafkajs does not know the request ${name}`);
  const build = definition.protocol({ version }) as unknown as (parameters: P) => LibraryCall<A>;
  return build(parameters);
}

/** A request that kafkajs encodes. Error codes of the response are returned, not thrown. */
export function libraryCall<P, A>(api: Api<P, A>, parameters: P, requestTimeoutMs?: number): LibraryCall<A> {
  const call = buildCall<P, A>(api.name, api.version, parameters);
  return {
    ...call,
    response: {
      decode: withMalformedErrors((payload) => api.read(new ResponseReader(payload))),
      parse: (response) => response,
    },
    ...(requestTimeoutMs === undefined ? {} : { requestTimeout: requestTimeoutMs }),
    logResponseError: false,
  };
}

/** Api keys of requests that kafkajs does not support. */
const OWN_KEYS: Readonly<Record<string, number>> = {
  OffsetDelete: 47,
  DescribeQuorum: 55,
  ConsumerGroupHeartbeat: 68,
  ConsumerGroupDescribe: 69,
};

/** Creates a request without an encoder of kafkajs. If the body is in pieces, they are sent without copying. */
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
    response: { decode: withMalformedErrors(decode), parse: (response) => response },
    ...(options.requestTimeoutMs === undefined ? {} : { requestTimeout: options.requestTimeoutMs }),
    logResponseError: false,
  };
}

/** A request, or a function that builds it for the versions that a broker supports. */
export type Call<A> = LibraryCall<A> | ((ranges: ApiRanges) => LibraryCall<A>);

/** The newest version of a request that the broker supports; -1 if it does not support it. */
export function highestVersion(name: string, ranges: ApiRanges): number {
  return ranges[apiKeys[name] ?? OWN_KEYS[name] ?? -1]?.maxVersion ?? -1;
}

/** Returns why the broker does not support the request, or `undefined` if it does. */
export function unsupportedReason(
  { request }: Pick<LibraryCall<unknown>, 'request'>,
  ranges: ApiRanges,
): string | undefined {
  const { apiKey, apiName, apiVersion } = request;
  const range = ranges[apiKey];
  if (range !== undefined && range.minVersion <= apiVersion && apiVersion <= range.maxVersion) return undefined;
  const offered = range === undefined ? 'no version' : `${String(range.minVersion)} to ${String(range.maxVersion)}`;
  return `The broker does not support ${apiName} version ${String(apiVersion)} (it supports ${offered}); Kafka 2.4 or later is required`;
}
