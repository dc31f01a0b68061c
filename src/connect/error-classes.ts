import {
  ConfigError,
  ConnectError,
  DatabaseError,
  DataError,
  RequestError,
  RetriableError,
  SluiceError,
  UnavailableError,
} from '../errors.ts';
import {
  AuthenticationError,
  BrokerUnreachableError,
  ClosedError,
  CodecError,
  CommitRefusedError,
  KafkaError,
  MalformedResponseError,
  MembershipLostError,
  RecordFormatError,
  TimeoutError,
} from '../kafka/errors/kafka-errors.ts';

/**
 * Error classes that callers distinguish, for example to find out why a task has failed. Subclasses precede their base class, so
 * that the first match is the most specific one. An error that crosses threads keeps its class if the list contains it, and
 * otherwise gets the most specific one of the list.
 */
export const ERROR_CLASSES = [
  UnavailableError,
  BrokerUnreachableError,
  TimeoutError,
  RetriableError,
  CodecError,
  RecordFormatError,
  ConnectError,
  DataError,
  ConfigError,
  DatabaseError,
  RequestError,
  KafkaError,
  AuthenticationError,
  CommitRefusedError,
  MembershipLostError,
  MalformedResponseError,
  ClosedError,
  SluiceError,
] as const;
