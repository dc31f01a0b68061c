import { DatabaseError, RetriableError, SluiceError, toError } from '../errors.ts';
import { ErrorCode } from '../kafka/errors/error-codes.ts';
import {
  AuthenticationError,
  CodecError,
  CommitRefusedError,
  MalformedResponseError,
  KafkaError,
  MembershipLostError,
  RecordFormatError,
} from '../kafka/errors/kafka-errors.ts';

/**
 * Why a task or connector has failed.
 * infrastructure: a broker, database or other service is unreachable or currently unable to work.
 * hang: the event loop of the thread was blocked. memory: the heap of the thread was full.
 * configuration: options, credentials or privileges are wrong. data: a record is invalid.
 * unknown: the plugin threw another error, usually because of a bug.
 */
export type FailureKind = 'infrastructure' | 'hang' | 'memory' | 'configuration' | 'data' | 'unknown';

export interface Failure {
  readonly kind: FailureKind;
  /** The most specific error message, in one line of at most 500 characters. */
  readonly reason: string;
}

const MAX_CAUSES = 10;
const MAX_REASON_LENGTH = 500;

const NETWORK_CODES: ReadonlySet<string> = new Set([
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'EMFILE',
  'ENETDOWN',
  'ENETRESET',
  'ENETUNREACH',
  'ENFILE',
  'ENOTFOUND',
  'EPIPE',
  'ESOCKETTIMEDOUT',
  'ETIMEDOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_SOCKET',
]);

/**
 * Errors that a retry of the request does not fix. A restart of the task may, because it creates a new group member or
 * producer.
 */
const FIXED_BY_RESTART: ReadonlySet<number> = new Set([
  -1,
  ErrorCode.illegalGeneration,
  ErrorCode.unknownMemberId,
  ErrorCode.rebalanceInProgress,
  ErrorCode.outOfOrderSequence,
  ErrorCode.duplicateSequence,
  ErrorCode.invalidProducerEpoch,
  ErrorCode.invalidTxnState,
  ErrorCode.invalidProducerIdMapping,
  ErrorCode.concurrentTransactions,
  ErrorCode.kafkaStorageError,
  ErrorCode.unknownProducerId,
  ErrorCode.producerFenced,
  ErrorCode.fencedMemberEpoch,
  ErrorCode.staleMemberEpoch,
  ErrorCode.unreleasedInstanceId,
]);

const INVALID_RECORD = 87;
const RECORD_CODES: ReadonlySet<number> = new Set([
  ErrorCode.corruptMessage,
  ErrorCode.messageTooLarge,
  ErrorCode.recordListTooLarge,
  INVALID_RECORD,
]);

/** Failure kinds by SQLSTATE class, for plugins that throw the errors of their database driver unchanged. */
const KIND_BY_SQLSTATE_CLASS: ReadonlyMap<string, FailureKind> = new Map([
  ['08', 'infrastructure'],
  ['40', 'infrastructure'],
  ['53', 'infrastructure'],
  ['55', 'infrastructure'],
  ['57', 'infrastructure'],
  ['58', 'infrastructure'],
  ['28', 'configuration'],
  ['3D', 'configuration'],
  ['22', 'data'],
  ['23', 'data'],
  ['42', 'data'],
]);

/**
 * Determines the kind of a failure from the error and its causes: by the first one that comes from Kafka, a database or
 * another service, or else by the outermost one whose scope is not `infrastructure`.
 */
export function failureOf(thrown: unknown): Failure {
  const chain = chainOf(thrown);
  const first = chain.findIndex((error) => kindByService(error) !== undefined);
  const serviceError = chain[first];
  if (serviceError !== undefined) {
    // A RetriableError may have been caused by rejected credentials.
    const isRejected = serviceError instanceof RetriableError && chain.slice(first).some(isOfCaller);
    const kind = isRejected ? 'configuration' : kindByService(serviceError);
    return { kind: kind ?? 'unknown', reason: oneLine(serviceError.message) };
  }
  const kinds = chain.flatMap((error) => kindByScope(error) ?? []);
  return { kind: kinds[0] ?? 'unknown', reason: oneLine(chain.at(-1)?.message ?? '') };
}

/** Creates a failure whose cause is known without an error. */
export function failureFor(kind: FailureKind, reason: string): Failure {
  return { kind, reason: oneLine(reason) };
}

/**
 * Returns the error and its causes, outermost first. An AggregateError without a cause is followed by its first error.
 */
function chainOf(thrown: unknown): Error[] {
  const chain: Error[] = [];
  let next: unknown = thrown;
  while (next !== undefined && next !== null && chain.length < MAX_CAUSES) {
    const error = toError(next);
    if (chain.includes(error)) break;
    chain.push(error);
    next = error.cause ?? (error instanceof AggregateError ? (error.errors as unknown[])[0] : undefined);
  }
  return chain;
}

function kindByService(error: Error): FailureKind | undefined {
  if (error instanceof DatabaseError) return KIND_BY_SCOPE[error.scope];
  if (error instanceof KafkaError) return kindOfKafka(error);
  if (error instanceof AuthenticationError) return 'configuration';
  if (error instanceof CodecError || error instanceof RecordFormatError) return 'data';
  const isOfGroup = error instanceof CommitRefusedError || error instanceof MembershipLostError;
  if (error instanceof RetriableError || error instanceof MalformedResponseError || isOfGroup) return 'infrastructure';
  if (error instanceof SluiceError) return undefined;
  const { code, retriable } = error as { code?: unknown; retriable?: unknown };
  if (retriable === true || error.name === 'TimeoutError') return 'infrastructure';
  if (typeof code !== 'string') return undefined;
  if (NETWORK_CODES.has(code)) return 'infrastructure';
  return /^[0-9A-Z]{5}$/.test(code) ? KIND_BY_SQLSTATE_CLASS.get(code.slice(0, 2)) : undefined;
}

function isOfCaller(error: Error): boolean {
  return error instanceof AuthenticationError || (error instanceof SluiceError && error.scope === 'caller');
}

function kindOfKafka({ code, retriable }: KafkaError): FailureKind {
  if (retriable || FIXED_BY_RESTART.has(code)) return 'infrastructure';
  return RECORD_CODES.has(code) ? 'data' : 'configuration';
}

const KIND_BY_SCOPE = {
  record: 'data',
  table: 'data',
  caller: 'configuration',
  infrastructure: 'infrastructure',
} as const;

/**
 * Returns the kind for the scope of an error. The scope `infrastructure` is the default of errors, so it does not determine a
 * kind.
 */
function kindByScope(error: Error): FailureKind | undefined {
  if (!(error instanceof SluiceError) || error.scope === 'infrastructure') return undefined;
  return KIND_BY_SCOPE[error.scope];
}

function oneLine(text: string): string {
  const [line = ''] = text.split(/\r?\n/, 1);
  return line.length <= MAX_REASON_LENGTH ? line : `${line.slice(0, MAX_REASON_LENGTH)}…`;
}
