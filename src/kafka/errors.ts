import { ConnectError, RetriableError, SluiceError } from '../errors.ts';
import { ErrorCode, describeErrorCode } from './error-codes.ts';

const JAVA_ERRORS = 'org.apache.kafka.common.errors';

/** The Java client's class for a code, where its users know it by that name; else the common base class. */
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

/** A broker answered with an error code. `retriable`: the same request may succeed later. */
export class KafkaError extends SluiceError {
  readonly code: number;
  readonly retriable: boolean;

  constructor(code: number, message: string, options: { cause?: unknown; retriable?: boolean } = {}) {
    super(message, { cause: options.cause, javaName: `${JAVA_ERRORS}.${JAVA_NAMES[code] ?? 'ApiException'}` });
    this.code = code;
    this.retriable = options.retriable ?? describeErrorCode(code).retriable;
  }

  /** The same, for a caller whom waiting does not help (a missing topic that nobody is going to create). */
  asFinal(): KafkaError {
    return new KafkaError(this.code, this.message, { cause: this, retriable: false });
  }

  /** `where` is what was asked of whom, e.g. `Topic orders`; `detail` the broker's own text. */
  static ofCode(code: number, where: string, detail?: string | null): KafkaError {
    const { name, message } = describeErrorCode(code);
    const text = detail === undefined || detail === null || detail === '' ? message : detail;
    return new KafkaError(code, `${where}: ${text} (${name})`);
  }
}

/** No broker answered: connection refused or closed, or a request timed out. Waiting may help. */
export class BrokerUnreachableError extends RetriableError {}

/** This side gave the connection up while the request was under way. */
export class DroppedError extends BrokerUnreachableError {}

/** The broker refused this client (`sasl`), or one of the two does not trust the other (`ssl`). Waiting does not help. */
export class AuthenticationError extends SluiceError {
  constructor(kind: 'sasl' | 'ssl', message: string, options: { cause?: unknown } = {}) {
    const javaName = kind === 'ssl' ? 'SslAuthenticationException' : 'SaslAuthenticationException';
    super(message, { ...options, javaName: `${JAVA_ERRORS}.${javaName}` });
  }
}

/** The member no longer owns its generation: another member may have the partitions already. */
export class CommitRefusedError extends SluiceError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { ...options, javaName: 'org.apache.kafka.clients.consumer.CommitFailedException' });
  }
}

/** The group has gone on without a member that kept its partitions while it joined. */
export class MembershipLostError extends SluiceError {
  constructor(groupId: string) {
    super(`Group ${groupId} has gone on without this member`);
  }
}

/** A batch is compressed in a way that this installation cannot read or write. */
export class CodecError extends ConnectError {}

/** An answer of a broker, or what a member told its group, cannot be read; asking again may not help. */
export class DamagedAnswerError extends SluiceError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { ...options, javaName: 'org.apache.kafka.common.protocol.types.SchemaException' });
  }
}

/** The records of a partition cannot be read: damaged, or of a format older than Kafka 0.11. */
export class RecordFormatError extends ConnectError {}

/** A client was used after `close`, or an operation was cut short by it. */
export class ClosedError extends SluiceError {
  constructor(what: string) {
    super(`${what} has been closed`, { javaName: 'java.lang.IllegalStateException' });
  }
}

/** Something took longer than its time limit. */
export class TimeoutError extends RetriableError {}

/** True when the same request may succeed later: unreachable brokers and retriable codes. */
export function isRetriable(error: unknown): boolean {
  return error instanceof RetriableError || (error instanceof KafkaError && error.retriable);
}
