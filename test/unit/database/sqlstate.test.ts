import assert from 'node:assert/strict';
import type { Scope } from '../../../src/data/fault.ts';
import { scopeOfSqlstate, toDatabaseError } from '../../../src/database/sqlstate.ts';
import { DatabaseError } from '../../../src/errors.ts';

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

  it('is infrastructure when transaction ids ran out, although the code is that of a limit', () => {
    assert.equal(scopeOfSqlstate('54000', 'GetNewTransactionId'), 'infrastructure');
  });

  it('is infrastructure for sockets that break, with a reason a person can read', () => {
    const refused = toDatabaseError(failure({ code: 'ECONNREFUSED' }));
    assert.equal(refused.scope, 'infrastructure');
    assert.equal(refused.sqlstate, undefined);
    assert.equal(refused.message, 'connection refused (ECONNREFUSED)');
    assert.equal(toDatabaseError(failure({ code: 'EPIPE' })).sqlstate, undefined);
    assert.equal(toDatabaseError(new Error('Connection terminated unexpectedly')).scope, 'infrastructure');
    const several = new AggregateError([failure({ code: 'ECONNREFUSED' }), failure({ code: 'ENETUNREACH' })]);
    assert.equal(toDatabaseError(several).message, 'connection refused (ECONNREFUSED)');
  });

  it('is caller for certificates and passwords that do not work', () => {
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
