import assert from 'node:assert/strict';
import { failureFor, failureOf } from '../../../src/connect/task-failure.ts';
import { toDatabaseError } from '../../../plugins/database/executor/sqlstate.ts';
import { ConfigError, ConnectError, DataError, RetriableError, UnavailableError } from '../../../src/errors.ts';
import {
  AuthenticationError,
  BrokerUnreachableError,
  KafkaError,
  RecordFormatError,
} from '../../../src/kafka/errors/kafka-errors.ts';

const coded = (code: string, message = 'it did not work') => Object.assign(new Error(message), { code });
const fromPut = (cause: Error) => new ConnectError('Exiting WorkerSinkTask due to unrecoverable exception.', { cause });
const beyondTolerance = (cause: Error) =>
  new ConnectError('Tolerance exceeded in error handler', {
    scope: 'record',
    cause: new ConnectError(`at offset 3: ${cause.message}`, { scope: 'record', cause }),
  });

describe('the kind of a failure', () => {
  const kinds = (errors: readonly unknown[]) => [...new Set(errors.map((error) => failureOf(error).kind))];

  it('is infrastructure if a service is unreachable, even if the error is wrapped', () => {
    const away = [
      coded('ECONNREFUSED'),
      toDatabaseError(coded('ECONNRESET')),
      ...['08006', '57P01', '53300', '40001'].map((code) => toDatabaseError(coded(code))),
      ...['08006', '57P01', '53300'].map((code) => coded(code)),
      new BrokerUnreachableError('no broker'),
      new RetriableError('again'),
      new AggregateError([coded('ECONNREFUSED'), coded('EHOSTUNREACH')]),
      KafkaError.ofCode(7, 'Topic t'),
      KafkaError.ofCode(90, 'Transaction t'),
      new ConfigError('The provider vault cannot be asked', { cause: coded('ECONNREFUSED') }),
    ];
    assert.deepEqual(kinds(away), ['infrastructure']);
    assert.deepEqual(kinds(away.map((error) => fromPut(error))), ['infrastructure']);
    assert.deepEqual(kinds([beyondTolerance(new UnavailableError('the registry is unreachable'))]), ['infrastructure']);
  });

  it('is data where a record is wrong', () => {
    const wrong = ['22003', '23505', '42P01'].flatMap((code) => [fromPut(toDatabaseError(coded(code))), coded(code)]);
    assert.deepEqual(kinds(wrong), ['data']);
    const unreadable = [new DataError('no JSON'), new TypeError('undefined is not a function')].map(beyondTolerance);
    assert.deepEqual(kinds([...unreadable, new RecordFormatError('damaged'), KafkaError.ofCode(10, 'Topic t')]), [
      'data',
    ]);
  });

  it('is configuration where options, credentials or rights are', () => {
    const wrong = [
      new ConfigError('no url'),
      ...['28P01', '3D000', '42501'].map((code) => fromPut(toDatabaseError(coded(code)))),
      new AuthenticationError('sasl', 'who are you'),
      beyondTolerance(new UnavailableError('no answer', { cause: new ConfigError('it refuses the credentials') })),
      KafkaError.ofCode(29, 'Topic t'),
    ];
    assert.deepEqual(kinds(wrong), ['configuration']);
  });

  it('is unknown where a plugin throws something else', () => {
    assert.deepEqual(
      kinds([new TypeError('x is undefined'), fromPut(new Error('no')), 'text', new ConnectError('no')]),
      ['unknown'],
    );
  });

  it('has the message of the most specific error, in one short line', () => {
    const cause = toDatabaseError(coded('23505', 'duplicate key\nof a table'));
    assert.deepEqual(failureOf(fromPut(cause)), { kind: 'data', reason: 'duplicate key' });
    assert.equal(failureOf(fromPut(new Error('the cause'))).reason, 'the cause');
    assert.equal(failureFor('hang', 'x'.repeat(5000)).reason.length, 501);
  });

  it('is found in chains of causes that never end', () => {
    const circle = new Error('round');
    circle.cause = circle;
    assert.equal(failureOf(circle).kind, 'unknown');
  });
});
