import assert from 'node:assert/strict';
import type { ConnectionFindings, ConsoleValidation } from '../../src/common/answers.ts';
import {
  connectionKey,
  connectionProblems,
  connectionRemedy,
  connectionText,
  isConnectable,
} from '../../src/editor/connection-findings.ts';

type Finding = ConnectionFindings['findings'][number];

const ok = (about: string, message: string): Finding => ({ level: 'ok', about, message });
const CONNECTED = ok('database', 'PostgreSQL 18.4, database db, user app');

describe('the check of a connection', () => {
  it('names the server, the user and the rights in one line, and only problems beside it', () => {
    const slots: Finding = { level: 'warn', about: 'max_connections', message: 'none is free', remedy: 'raise it' };
    const findings = [CONNECTED, slots, ok('timeouts', 'none'), ok('rights', 'the user may create tables')];
    assert.equal(
      connectionText(findings),
      'Connected: PostgreSQL 18.4, database db, user app. Rights: the user may create tables.',
    );
    assert.deepEqual(connectionProblems(findings), [slots]);
    assert.equal(connectionRemedy(findings), undefined);
  });

  it('gives the reason for a failed connection, and how to fix it', () => {
    const findings: Finding[] = [{ level: 'fail', about: 'database', message: 'refused', remedy: 'pg_isready -h db' }];
    assert.equal(connectionText(findings), 'Not connected: refused.');
    assert.equal(connectionRemedy(findings), 'pg_isready -h db');
    assert.deepEqual(connectionProblems(findings), []);
  });

  it('has no line for a connector without a database', () => {
    assert.equal(connectionText([]), undefined);
  });

  it('is made for a valid configuration whose secrets may be sent, and again when its connection changes', () => {
    const validation = (errors: readonly string[], keys: readonly string[]): ConsoleValidation => ({
      ...{ groups: [], secrets: [], unknown: [], restarts: true },
      configs: [{ definition: null, value: { name: 'a', errors, visible: true, recommended_values: [] } }],
      withheld: { keys, because: [] },
    });
    assert.equal(isConnectable(validation([], [])), true);
    assert.equal(isConnectable(validation(['wrong'], [])), false);
    assert.equal(isConnectable(validation([], ['connection.password'])), false);
    assert.equal(isConnectable(undefined), false);
    const key = connectionKey([
      ['connection.url', 'a'],
      ['batch.size', '1'],
    ]);
    assert.equal(connectionKey([['connection.url', 'a']]), key);
    assert.notEqual(connectionKey([['connection.url', 'b']]), key);
  });
});
