import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { LocalPostgres } from '../../src/dev/postgres.ts';
import { folderOfEachTest } from '../support/temporary-folder.ts';

describe('the local PostgreSQL', () => {
  const folder = folderOfEachTest('services');

  it('keeps its rows and its port over a stop, and over a kill -9', async () => {
    const postgres = await LocalPostgres.start({ dataDir: join(folder.path, 'pg') });
    try {
      await query(postgres, 'CREATE TABLE kept (at int)');
      for (const end of [() => postgres.stop(), () => postgres.kill()]) {
        await end();
        assert.equal(postgres.pid, undefined);
        await postgres.start();
        await query(postgres, 'INSERT INTO kept VALUES (1)');
      }
      assert.deepEqual(await query(postgres, 'SELECT count(*)::int AS rows FROM kept'), [{ rows: 2 }]);
    } finally {
      await postgres.discard();
    }
    assert.equal(existsSync(postgres.dataDir), false);
  });

  it('shuts down cleanly at once while clients are connected', async () => {
    const postgres = await LocalPostgres.start({ dataDir: join(folder.path, 'pg') });
    const client = new pg.Client({ connectionString: postgres.url() });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const before = performance.now();
      await postgres.stop();
      assert.ok(performance.now() - before < 10_000);
      assert.equal(existsSync(join(postgres.dataDir, 'postmaster.pid')), false);
    } finally {
      await client.end().catch(() => undefined);
      await postgres.discard();
    }
  });
});

async function query(postgres: LocalPostgres, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: postgres.url() });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
