import assert from 'node:assert/strict';
import { ConfigError, DatabaseError } from '../../../../../src/errors.ts';
import type { Connection } from '../../../../../plugins/database/executor/connection.ts';
import { parseConnectionUrl } from '../../../../../plugins/database/executor/connection-url.ts';
import { greet, refusesOptions, serverInstance } from '../../../../../plugins/database/executor/server-greeting.ts';

const PID = 4711;
const POSTGRESQL = 'PostgreSQL 14.0 on x86_64-pc-linux-gnu, compiled by gcc';
const OURS = ['UTC', 'ISO, MDY', 'postgres', 'hex', '1'];

describe('the first answer of a server', () => {
  /** Greets a server that answers with this row, or with an error. */
  async function greeted(row: readonly string[] | DatabaseError, path = ''): Promise<boolean> {
    let sharesBackends = false;
    const connection = {
      processId: PID,
      run: () => (row instanceof DatabaseError ? Promise.reject(row) : Promise.resolve({ rows: [row] })),
      sharesBackends: () => (sharesBackends = true),
    };
    await greet(connection as unknown as Connection, parseConnectionUrl(`postgresql://u@h/d${path}`));
    return sharesBackends;
  }

  const direct = (version: string): string[] => [String(PID), version, 'public', ...OURS];
  const pooled = (formats: readonly string[], path = 'public'): string[] => ['12', POSTGRESQL, path, ...formats];

  it('is accepted from PostgreSQL 14 on, and from relatives that count differently', async () => {
    assert.equal(await greeted(direct(POSTGRESQL)), false);
    assert.equal(await greeted(direct('CockroachDB CCL v25.1.0 (x86_64-pc-linux-gnu)')), false);
    for (const old of ['PostgreSQL 13.22 on x86_64', 'PostgreSQL 9.6.24 on x86_64']) {
      await assert.rejects(
        greeted(direct(old)),
        (error) =>
          error instanceof ConfigError &&
          error.message === `the server is ${old.slice(0, -' on x86_64'.length)}; PostgreSQL 14 or later is required`,
      );
    }
  });

  it('shows a pooler, which invents the process id that it reports at the start', async () => {
    assert.equal(await greeted(pooled(OURS)), true);
  });

  it('is refused with the statement that helps if a pooler drops a setting', async () => {
    await assert.rejects(greeted(pooled(['UTC', 'ISO, MDY', 'postgres', 'escape', '1'])), {
      message: `a connection pooler does not pass on the setting bytea_output=hex; run ALTER ROLE "u" IN DATABASE "d" SET bytea_output = 'hex'`,
    });
    await assert.rejects(greeted(pooled(OURS), '?currentSchema=plant,public'), {
      message: `a connection pooler does not pass on the setting search_path=plant,public; run ALTER ROLE "u" IN DATABASE "d" SET search_path = plant,public`,
    });
    assert.equal(await greeted(pooled(OURS, '"plant", public'), '?currentSchema=plant,public'), true);
  });

  it('is treated with the care for a pooler if the server lacks a function', async () => {
    assert.equal(await greeted(new DatabaseError('unknown function', { scope: 'table', sqlstate: '42883' })), true);
  });

  it('is asked for again without the start of the server if a relative of PostgreSQL does not know it', async () => {
    const asked: string[] = [];
    const answers = [...direct(POSTGRESQL), '2026-01-01 00:00:00+00', 'f'];
    const connectionOf = (lacks: boolean) => {
      const run = ({ text }: { text: string }) => {
        asked.push(text);
        const error = new DatabaseError('unknown function', { scope: 'table', sqlstate: '42883' });
        const isUnknown = lacks && text.includes('pg_postmaster_start_time');
        return isUnknown
          ? Promise.reject(error)
          : Promise.resolve({ rows: [answers.slice(0, lacks ? -2 : undefined)] });
      };
      const sharesBackends = () => assert.ok(false, 'no pooler is in between');
      return { processId: PID, run, sharesBackends } as unknown as Connection;
    };
    const settings = parseConnectionUrl('postgresql://u@h/d');
    const [relative, server] = [connectionOf(true), connectionOf(false)];
    assert.equal(serverInstance(server), '');
    for (const connection of [relative, server]) await greet(connection, settings);
    assert.deepEqual(
      asked.map((text) => text.includes('pg_postmaster_start_time')),
      [true, false, true],
    );
    assert.equal(serverInstance(relative), POSTGRESQL);
    assert.equal(serverInstance(server), `${POSTGRESQL} 2026-01-01 00:00:00+00 f`);
  });

  it('fails as a login does if it does not arrive in time', async () => {
    await assert.rejects(greeted(new DatabaseError('late', { scope: 'infrastructure', sqlstate: '57014' })), {
      message: 'timeout expired',
      scope: 'infrastructure',
      sqlstate: undefined,
    });
    const ended = new DatabaseError('the server ended the connection', { scope: 'infrastructure' });
    await assert.rejects(greeted(ended), ended);
  });

  it('to startup parameters in the form of libpq may be that they are not supported', () => {
    const refusal = (message: string): DatabaseError =>
      new DatabaseError(message, { scope: 'infrastructure', sqlstate: '08P01' });
    assert.equal(refusesOptions(refusal('unsupported startup parameter: options')), true);
    assert.equal(refusesOptions(refusal('unsupported startup parameter in options: bytea_output')), true);
    assert.equal(refusesOptions(refusal('no more connections allowed')), false);
  });
});
