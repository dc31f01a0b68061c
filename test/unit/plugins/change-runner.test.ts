import assert from 'node:assert/strict';
import { ChangeRunner } from '../../../plugins/db-sink/change-runner.ts';
import type { Executor } from '../../../plugins/database/index.ts';
import { DatabaseError } from '../../../src/errors.ts';
import { silentLogger } from '../../../src/index.ts';

const INDEX = 'CREATE INDEX CONCURRENTLY i ON t (n)';

/** Runs the statement. Returns the messages of its faults, and the statements that the server received. */
async function run(schema: string, keepsSettings: boolean): Promise<{ faults: string[]; received: string[] }> {
  const received: string[] = [];
  let isInTransaction = false;
  const session = {
    keepsSettings,
    query: (sql: string, parameters: readonly string[]) => {
      received.push(sql.includes('search_path') ? `search_path, local: ${String(parameters[1])}` : sql);
      const isRefused = isInTransaction && sql === INDEX;
      const error = new DatabaseError('not inside a transaction block', { scope: 'record', sqlstate: '25001' });
      return isRefused ? Promise.reject(error) : Promise.resolve({ rows: [] });
    },
    transaction: async (work: () => Promise<void>) => {
      isInTransaction = true;
      await work().finally(() => (isInTransaction = false));
    },
  };
  const executor = {
    catalogue: { find: () => Promise.resolve(), refresh: () => Promise.resolve(), forget: () => undefined },
    session: (work: (given: object) => Promise<void>) => work(session),
  } as unknown as Executor;
  const statement = { sql: INDEX, kind: 'create', schema, table: 't', origin: { kind: 'line', line: 1 } } as const;
  const signal = new AbortController().signal;
  const faults = await new ChangeRunner(executor, 'd', silentLogger).run(statement, signal);
  return { faults: faults.map(({ message }) => message), received };
}

describe('a statement of cdc_db that cannot run inside a transaction', () => {
  it('runs outside of one, with the schema of its message', async () => {
    const { faults, received } = await run('plant', true);
    assert.deepEqual(faults, []);
    assert.deepEqual(received, ['search_path, local: true', INDEX, 'search_path, local: false', INDEX]);
  });

  it('leaves no search path behind a pooler: it is refused, unless its schema is public', async () => {
    const { faults, received } = await run('plant', false);
    assert.match(faults.join(), /behind a connection pooler the schema "plant" of the message cannot be set/);
    assert.deepEqual(received, ['search_path, local: true', INDEX]);
    assert.deepEqual(await run('public', false), { faults: [], received: [INDEX] });
  });
});
