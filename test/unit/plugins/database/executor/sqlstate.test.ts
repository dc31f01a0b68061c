import assert from 'node:assert/strict';
import type { Scope } from '../../../../../src/data/fault.ts';
import {
  alreadyExists,
  isUnreachable,
  isCancelled,
  isDatabaseRefused,
  isDenied,
  isLoginRefused,
  isLimitedToTable,
  isRollback,
  isTableChanged,
  isUnavailable,
  isUnreachableOrFull,
  isUnsupported,
  scopeOfSqlstate,
  toDatabaseError,
} from '../../../../../plugins/database/executor/sqlstate.ts';
import { DatabaseError } from '../../../../../src/errors.ts';

function failure(fields: Record<string, unknown>, message = 'it failed'): Error {
  return Object.assign(new Error(message), fields);
}

describe('the scope of a failure', () => {
  const bySqlstate: [string, Scope][] = [
    ['08006', 'infrastructure'],
    ['53300', 'infrastructure'],
    ['57P01', 'infrastructure'],
    ['58030', 'infrastructure'],
    ['40001', 'infrastructure'],
    ['40P01', 'infrastructure'],
    ['25006', 'infrastructure'],
    ['55P03', 'infrastructure'],
    ['XX000', 'infrastructure'],
    ['26000', 'infrastructure'],
    ['ZZ999', 'infrastructure'],
    ['22001', 'record'],
    ['22P02', 'record'],
    ['23505', 'record'],
    ['23514', 'record'],
    ['21000', 'record'],
    ['40002', 'record'],
    ['P0001', 'record'],
    ['54000', 'record'],
    ['42P01', 'table'],
    ['42703', 'table'],
    ['3F000', 'table'],
    ['42501', 'caller'],
    ['42601', 'caller'],
    ['28P01', 'caller'],
    ['3D000', 'caller'],
    ['0A000', 'caller'],
  ];
  for (const [sqlstate, scope] of bySqlstate) {
    it(`is ${scope} for SQLSTATE ${sqlstate}`, () => {
      assert.equal(scopeOfSqlstate(sqlstate), scope);
    });
  }

  it('is infrastructure when transaction ids are exhausted, although the SQLSTATE is that of a limit', () => {
    assert.equal(scopeOfSqlstate('54000', 'GetNewTransactionId'), 'infrastructure');
  });

  it('is infrastructure for broken sockets, with a readable reason', () => {
    const refused = toDatabaseError(failure({ code: 'ECONNREFUSED' }));
    assert.equal(refused.scope, 'infrastructure');
    assert.equal(refused.sqlstate, undefined);
    assert.equal(refused.message, 'connection refused (ECONNREFUSED)');
    assert.equal(toDatabaseError(failure({ code: 'EPIPE' })).sqlstate, undefined);
    assert.equal(toDatabaseError(new Error('Connection terminated unexpectedly')).scope, 'infrastructure');
    const several = new AggregateError([failure({ code: 'ECONNREFUSED' }), failure({ code: 'ENETUNREACH' })]);
    assert.equal(toDatabaseError(several).message, 'connection refused (ECONNREFUSED)');
  });

  it('is caller for invalid certificates and passwords', () => {
    for (const code of ['SELF_SIGNED_CERT_IN_CHAIN', 'ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_HAS_EXPIRED']) {
      assert.equal(toDatabaseError(failure({ code })).scope, 'caller');
    }
    assert.equal(toDatabaseError(failure({}, 'The server does not support SSL connections')).scope, 'caller');
  });

  it('keeps the server’s message, its detail, the column and the cause', () => {
    const cause = failure({ code: '23502', detail: 'Failing row contains (1).', column: 'v' }, 'null value');
    const error = toDatabaseError(cause);
    assert.equal(error.message, 'null value: Failing row contains (1).');
    assert.equal(error.column, 'v');
    assert.equal(error.sqlstate, '23502');
    assert.equal(error.cause, cause);
    assert.equal(toDatabaseError(error), error);
    assert.ok(error instanceof DatabaseError);
  });
});

describe('the meaning of a failure for callers', () => {
  const questions: Record<string, (error: DatabaseError) => boolean> = {
    away: isUnreachable,
    unreachable: isUnreachableOrFull,
    unavailable: isUnavailable,
    'rolled back': isRollback,
    'login refused': isLoginRefused,
    'database refused': isDatabaseRefused,
    'table changed': isTableChanged,
    'of one table': isLimitedToTable,
    'exists now': alreadyExists,
    denied: isDenied,
    unsupported: isUnsupported,
    cancelled: isCancelled,
  };
  const AWAY = 'away, unreachable, unavailable';
  const meanings: [code: string | undefined, what: string, meaning: string][] = [
    [undefined, 'a connection that was lost', AWAY],
    ['08006', 'a connection failure', AWAY],
    ['08P01', 'a pooler that has no server', AWAY],
    ['26000', 'a prepared statement that a pooler lost', AWAY],
    ['42P05', 'a prepared statement that a pooler kept', AWAY],
    ['25P03', 'a session that was idle in a transaction', AWAY],
    ['25P04', 'a transaction that took too long', AWAY],
    ['57P01', 'a server that stops', AWAY],
    ['57P03', 'a server that starts', AWAY],
    ['53300', 'too many connections', 'unreachable, unavailable'],
    ['25006', 'a server that only reads', 'unavailable'],
    ['53100', 'a disk that is full', 'unavailable'],
    ['53200', 'no memory', 'unavailable'],
    ['58030', 'a failure of the disk', 'unavailable'],
    ['53400', 'a configured limit', ''],
    ['57014', 'a statement that took too long', 'cancelled'],
    ['55P03', 'a lock that was not to be had', ''],
    ['XX000', 'an internal error', ''],
    ['40001', 'a serialization failure', 'rolled back'],
    ['40P01', 'a deadlock', 'rolled back'],
    ['40002', 'a constraint of the transaction', 'of one table'],
    ['28P01', 'a wrong password', 'login refused'],
    ['28000', 'a role that may not log in', 'login refused'],
    ['3D000', 'a database that does not exist', 'database refused'],
    ['42501', 'a missing right', 'database refused, of one table, denied'],
    ['0A000', 'a feature that is not supported', 'table changed, of one table, unsupported'],
    ['42809', 'a relation of another kind', 'table changed, of one table, unsupported'],
    ['55000', 'a view that takes no rows', 'database refused, table changed, of one table'],
    ['42P01', 'a table that does not exist', 'table changed, of one table'],
    ['42703', 'a column that does not exist', 'table changed, of one table'],
    ['42804', 'a type that does not fit', 'table changed, of one table'],
    ['3F000', 'a schema that does not exist', 'table changed, of one table'],
    ['42P07', 'a table that exists', 'table changed, of one table, exists now'],
    ['42710', 'an object that exists', 'table changed, of one table, exists now'],
    ['42701', 'a column that exists', 'table changed, of one table'],
    ['23505', 'a key that exists', 'of one table, exists now'],
    ['22P02', 'a value that is no number', 'of one table'],
  ];
  for (const [sqlstate, what, meaning] of meanings) {
    it(`is the same for ${what} (${sqlstate ?? 'no SQLSTATE'})`, () => {
      const scope = sqlstate === undefined ? 'infrastructure' : scopeOfSqlstate(sqlstate);
      const error = new DatabaseError('it failed', { scope, sqlstate });
      const yes = Object.entries(questions).filter(([, asks]) => asks(error));
      assert.equal(yes.map(([name]) => name).join(', '), meaning);
    });
  }

  it('is a refused login for TLS and password errors before any response of the server', () => {
    assert.ok(isLoginRefused(toDatabaseError(failure({ code: 'CERT_HAS_EXPIRED' }))));
    assert.ok(!isLoginRefused(toDatabaseError(failure({ code: 'ECONNREFUSED' }))));
  });

  const ofPooler: [message: string, sqlstate: string, meaning: string][] = [
    ['no such database: d', '3D000', 'database refused'],
    ['database "d" does not exist', '3D000', 'database refused'],
    [
      'server login has been failing, cached error: database "d" does not exist (server_login_retry)',
      '3D000',
      'database refused',
    ],
    ['permission denied for database "d"', '42501', 'database refused, of one table, denied'],
    ['SASL authentication failed', '28P01', 'login refused'],
    ['password authentication failed for user "u"', '28P01', 'login refused'],
    ['no such user', '28P01', 'login refused'],
    ['role "u" is not permitted to log in', '28000', 'login refused'],
    ['no pg_hba.conf entry for host "10.0.0.1", user "u", database "d", SSL off', '28000', 'login refused'],
    ['login rejected', '28000', 'login refused'],
    ['server login has been failing, try again later (server_login_retry)', '08P01', AWAY],
    ['database "d" is disabled', '08P01', AWAY],
    ['query_wait_timeout', '08P01', AWAY],
    ['the database system is starting up', '08P01', AWAY],
    ['sorry, too many clients already', '08P01', AWAY],
  ];
  for (const [message, sqlstate, meaning] of ofPooler) {
    it(`is that of ${sqlstate} if pgbouncer reports: ${message}`, () => {
      const error = toDatabaseError(failure({ code: '08P01' }, message));
      assert.equal(error.sqlstate, sqlstate);
      const yes = Object.entries(questions).filter(([, asks]) => asks(error));
      assert.equal(yes.map(([name]) => name).join(', '), meaning);
    });
  }

  it('is not that of a pooler if the server itself reports a violation of the protocol', () => {
    const error = toDatabaseError(failure({ code: '08P01', routine: 'pq_getmsgstring' }, 'no such user'));
    assert.equal(error.sqlstate, '08P01');
  });

  it('is not a lost connection if the number of parameters is wrong', () => {
    const error = toDatabaseError(failure({ code: '08P01', routine: 'exec_bind_message' }));
    assert.equal(error.scope, 'table');
    assert.ok(!isUnavailable(error));
  });
});
