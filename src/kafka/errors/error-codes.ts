import { protocolErrors } from '../library/kafkajs-internals.ts';

/** Error codes of the Kafka protocol that the client handles (https://kafka.apache.org/protocol#protocol_error_codes). */
export const ErrorCode = {
  none: 0,
  offsetOutOfRange: 1,
  corruptMessage: 2,
  unknownTopicOrPartition: 3,
  leaderNotAvailable: 5,
  notLeaderOrFollower: 6,
  requestTimedOut: 7,
  replicaNotAvailable: 9,
  messageTooLarge: 10,
  offsetMetadataTooLarge: 12,
  networkException: 13,
  coordinatorLoadInProgress: 14,
  coordinatorNotAvailable: 15,
  notCoordinator: 16,
  invalidTopic: 17,
  recordListTooLarge: 18,
  illegalGeneration: 22,
  inconsistentGroupProtocol: 23,
  invalidGroupId: 24,
  unknownMemberId: 25,
  invalidSessionTimeout: 26,
  rebalanceInProgress: 27,
  topicAuthorizationFailed: 29,
  groupAuthorizationFailed: 30,
  clusterAuthorizationFailed: 31,
  topicAlreadyExists: 36,
  invalidReplicationFactor: 38,
  invalidConfig: 40,
  notController: 41,
  policyViolation: 44,
  outOfOrderSequence: 45,
  duplicateSequence: 46,
  invalidProducerEpoch: 47,
  invalidTxnState: 48,
  invalidProducerIdMapping: 49,
  invalidTransactionTimeout: 50,
  concurrentTransactions: 51,
  transactionalIdAuthorizationFailed: 53,
  operationNotAttempted: 55,
  kafkaStorageError: 56,
  unknownProducerId: 59,
  nonEmptyGroup: 68,
  groupIdNotFound: 69,
  fencedLeaderEpoch: 74,
  unknownLeaderEpoch: 75,
  memberIdRequired: 79,
  groupMaxSizeReached: 81,
  fencedInstanceId: 82,
  groupSubscribedToTopic: 86,
  producerFenced: 90,
  unknownTopicId: 100,
  inconsistentTopicId: 103,
  fencedMemberEpoch: 110,
  unreleasedInstanceId: 111,
  unsupportedAssignor: 112,
  staleMemberEpoch: 113,
  invalidRegularExpression: 128,
} as const;

/** The partition has a new leader, or currently no leader, so metadata must be refreshed. */
export const LEADER_MOVED: ReadonlySet<number> = new Set([
  ErrorCode.unknownTopicOrPartition,
  ErrorCode.leaderNotAvailable,
  ErrorCode.notLeaderOrFollower,
  ErrorCode.replicaNotAvailable,
  ErrorCode.kafkaStorageError,
  ErrorCode.fencedLeaderEpoch,
  ErrorCode.unknownLeaderEpoch,
  ErrorCode.unknownTopicId,
  ErrorCode.inconsistentTopicId,
]);

/** The coordinator has moved and must be looked up again. */
export const COORDINATOR_MOVED: ReadonlySet<number> = new Set([
  ErrorCode.coordinatorNotAvailable,
  ErrorCode.notCoordinator,
]);

interface CodeEntry {
  readonly name: string;
  readonly retriable: boolean;
  readonly message: string;
}

/** Codes above 88, which kafkajs does not know. */
const NEWER_CODES: readonly (CodeEntry & { code: number })[] = [
  { code: 89, name: 'THROTTLING_QUOTA_EXCEEDED', retriable: true, message: 'The throttling quota has been exceeded' },
  { code: 90, name: 'PRODUCER_FENCED', retriable: false, message: 'There is a newer producer with the same id' },
  { code: 100, name: 'UNKNOWN_TOPIC_ID', retriable: true, message: 'This server does not host this topic id' },
  { code: 103, name: 'INCONSISTENT_TOPIC_ID', retriable: true, message: 'The topic id in the request does not match' },
  {
    code: 110,
    name: 'FENCED_MEMBER_EPOCH',
    retriable: false,
    message: 'The member epoch is fenced by the group coordinator',
  },
  {
    code: 111,
    name: 'UNRELEASED_INSTANCE_ID',
    retriable: false,
    message: 'The instance id is still used by another member',
  },
  {
    code: 112,
    name: 'UNSUPPORTED_ASSIGNOR',
    retriable: false,
    message: 'The assignor is not supported by the consumer group',
  },
  {
    code: 113,
    name: 'STALE_MEMBER_EPOCH',
    retriable: true,
    message: 'The member epoch is stale; the next heartbeat returns the current one',
  },
  { code: 128, name: 'INVALID_REGULAR_EXPRESSION', retriable: false, message: 'The regular expression is not valid' },
  { code: 106, name: 'FETCH_SESSION_TOPIC_ID_ERROR', retriable: true, message: 'The fetch session changed' },
];

/** Current names of codes for which kafkajs uses outdated names. */
const RENAMED: Readonly<Record<string, string>> = {
  UNKNOWN: 'UNKNOWN_SERVER_ERROR',
  NOT_LEADER_FOR_PARTITION: 'NOT_LEADER_OR_FOLLOWER',
  GROUP_LOAD_IN_PROGRESS: 'COORDINATOR_LOAD_IN_PROGRESS',
  GROUP_COORDINATOR_NOT_AVAILABLE: 'COORDINATOR_NOT_AVAILABLE',
  NOT_COORDINATOR_FOR_GROUP: 'NOT_COORDINATOR',
};

const entries = new Map<number, CodeEntry>();
for (const { code, type, retriable, message } of protocolErrors) {
  entries.set(code, { name: RENAMED[type] ?? type, retriable, message });
}
for (const { code, ...entry } of NEWER_CODES) entries.set(code, entry);

export function describeErrorCode(code: number): CodeEntry {
  return (
    entries.get(code) ?? {
      name: `ERROR_CODE_${String(code)}`,
      retriable: false,
      message: `The broker returned the unknown error code ${String(code)}`,
    }
  );
}
