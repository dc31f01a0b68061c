import { ConnectError, RetriableError, SluiceError } from '../../errors.ts';
import { ErrorCode, describeErrorCode } from './error-codes.ts';

const JAVA_ERRORS = 'org.apache.kafka.common.errors';

/** Java exception classes by error code. All other codes use ApiException. */
const JAVA_NAMES: Readonly<Record<number, string>> = {
  [ErrorCode.unknownTopicOrPartition]: 'UnknownTopicOrPartitionException',
  [ErrorCode.messageTooLarge]: 'RecordTooLargeException',
  [ErrorCode.recordListTooLarge]: 'RecordBatchTooLargeException',
  [ErrorCode.invalidTopic]: 'InvalidTopicException',
  [ErrorCode.inconsistentGroupProtocol]: 'InconsistentGroupProtocolException',
  [ErrorCode.invalidGroupId]: 'InvalidGroupIdException',
  [ErrorCode.invalidSessionTimeout]: 'InvalidSessionTimeoutException',
  [ErrorCode.topicAuthorizationFailed]: 'TopicAuthorizationException',
  [ErrorCode.groupAuthorizationFailed]: 'GroupAuthorizationException',
  [ErrorCode.clusterAuthorizationFailed]: 'ClusterAuthorizationException',
  [ErrorCode.topicAlreadyExists]: 'TopicExistsException',
  [ErrorCode.invalidReplicationFactor]: 'InvalidReplicationFactorException',
  [ErrorCode.groupMaxSizeReached]: 'GroupMaxSizeReachedException',
  [ErrorCode.fencedInstanceId]: 'FencedInstanceIdException',
  [ErrorCode.unreleasedInstanceId]: 'UnreleasedInstanceIdException',
  [ErrorCode.unsupportedAssignor]: 'UnsupportedAssignorException',
  [ErrorCode.outOfOrderSequence]: 'OutOfOrderSequenceException',
  [ErrorCode.invalidProducerEpoch]: 'InvalidProducerEpochException',
  [ErrorCode.invalidTxnState]: 'InvalidTxnStateException',
  [ErrorCode.invalidProducerIdMapping]: 'InvalidPidMappingException',
  [ErrorCode.invalidTransactionTimeout]: 'InvalidTxnTimeoutException',
  [ErrorCode.transactionalIdAuthorizationFailed]: 'TransactionalIdAuthorizationException',
  [ErrorCode.unknownProducerId]: 'UnknownProducerIdException',
  [ErrorCode.producerFenced]: 'ProducerFencedException',
  [ErrorCode.groupIdNotFound]: 'GroupIdNotFoundException',
};

/** A broker returned an error code. `retriable` means that the same request may succeed later. */
export class KafkaError extends SluiceError {
  readonly code: number;
  readonly retriable: boolean;

  constructor(code: number, message: string, options: { cause?: unknown; retriable?: boolean } = {}) {
    super(message, { cause: options.cause, javaName: `${JAVA_ERRORS}.${JAVA_NAMES[code] ?? 'ApiException'}` });
    this.code = code;
    this.retriable = options.retriable ?? describeErrorCode(code).retriable;
  }

  /** Returns the same error as not retriable (for example, for a missing topic that will not be created). */
  asFinal(): KafkaError {
    return new KafkaError(this.code, this.message, { cause: this, retriable: false });
  }

  /** `where` says what failed, for example `Topic orders`. `detail` is the broker's own message. */
  static ofCode(code: number, where: string, detail?: string | null): KafkaError {
    const { name, message } = describeErrorCode(code);
    const text = detail === undefined || detail === null || detail === '' ? message : detail;
    return new KafkaError(code, `${where}: ${text} (${name})`);
  }
}

/** No response from the broker: connection refused or closed, or request timed out. Retriable. */
export class BrokerUnreachableError extends RetriableError {}

/** This client dropped the connection while the request was in flight. */
export class DroppedError extends BrokerUnreachableError {}

/**
 * The broker rejected the client's credentials (`sasl`), or the TLS handshake failed, for example because one side does not
 * trust the other (`ssl`). Not retriable.
 */
export class AuthenticationError extends SluiceError {
  constructor(kind: 'sasl' | 'ssl', message: string, options: { cause?: unknown } = {}) {
    const javaName = kind === 'ssl' ? 'SslAuthenticationException' : 'SaslAuthenticationException';
    super(message, { ...options, javaName: `${JAVA_ERRORS}.${javaName}` });
  }
}

/**
 * An offset commit was rejected, because the member does not belong to the current generation of its group, or because the
 * group has members and the caller is not one of them. Another member may already own the partitions.
 */
export class CommitRefusedError extends SluiceError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { ...options, javaName: 'org.apache.kafka.clients.consumer.CommitFailedException' });
  }
}

/**
 * The group has completed a rebalance without this member. The member kept its partitions while it joined, so another member
 * may already own them.
 */
export class MembershipLostError extends SluiceError {
  constructor(groupId: string) {
    super(`Group ${groupId} has rebalanced without this member`);
  }
}

/** The codec of a batch is not available in this installation. */
export class CodecError extends ConnectError {}

/** A response of a broker, or data of a group member, cannot be parsed. A retry may fail for the same reason. */
export class MalformedResponseError extends SluiceError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { ...options, javaName: 'org.apache.kafka.common.protocol.types.SchemaException' });
  }
}

/** The records of a partition are corrupt or in a format older than Kafka 0.11. */
export class RecordFormatError extends ConnectError {}

/** A client was used after `close`, or `close` cancelled a pending operation. */
export class ClosedError extends SluiceError {
  constructor(what: string) {
    super(`${what} has been closed`, { javaName: 'java.lang.IllegalStateException' });
  }
}

export class TimeoutError extends RetriableError {}

export function isRetriable(error: unknown): boolean {
  return error instanceof RetriableError || (error instanceof KafkaError && error.retriable);
}
