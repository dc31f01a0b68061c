import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openExecutor, parseConnectionUrl } from '../../plugins/database/executor/open-executor.ts';
import { DatabaseError } from '../../src/errors.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { Authority } from '../support/certificates.ts';
import { SecurePostgres } from '../support/secure-postgres.ts';

describe('a database connection by TLS', () => {
  let folder: string;
  let postgres: SecurePostgres;
  let url: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-tls-'));
    const authority = await Authority.create('authority of the servers');
    await writeFile(join(folder, 'root.crt'), authority.certificate);
    const identity = await authority.issue('localhost', [{ type: 2, value: 'localhost' }]);
    const access = ['hostnossl all plain 127.0.0.1/32 trust', 'hostssl all encrypted 127.0.0.1/32 trust'];
    postgres = await SecurePostgres.start({ identity, access });
    ({ url } = postgres.database('postgres'));
    await postgres.run('postgres', 'create role plain login', 'create role encrypted login');
  });

  after(async () => {
    await postgres?.discard();
    await rm(folder, { recursive: true, force: true });
  });

  async function encrypted(parameters: string, user?: string): Promise<string | null | undefined> {
    const executor = openExecutor(parseConnectionUrl(url + parameters, { user }), { logger: silentLogger });
    try {
      const { rows } = await executor.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
      return rows[0]?.[0];
    } finally {
      await executor.close();
    }
  }

  it('is made when the server has it, unless it is disabled', async () => {
    assert.equal(await encrypted(''), 't');
    assert.equal(await encrypted('?sslmode=prefer'), 't');
    assert.equal(await encrypted('?sslmode=require'), 't');
    assert.equal(await encrypted('?sslmode=disable'), 'f');
  });

  it('takes the other way for allow and prefer where the server refuses the first one, and for no other mode', async () => {
    const modes = ['disable', 'allow', 'prefer', 'require'];
    const ways = async (user?: string): Promise<(string | null | undefined)[]> => {
      const refused = (error: unknown): string =>
        isRefusal(error, /no pg_hba\.conf entry/) ? 'refused' : String(error);
      return Promise.all(modes.map((mode) => encrypted(`?sslmode=${mode}`, user).catch(refused)));
    };
    assert.deepEqual(await ways(), ['f', 'f', 't', 't']);
    assert.deepEqual(await ways('plain'), ['f', 'f', 'f', 'refused']);
    assert.deepEqual(await ways('encrypted'), ['refused', 't', 't', 't']);
    assert.deepEqual(await ways('nobody'), ['refused', 'refused', 'refused', 'refused']);
  });

  it('trusts the authority that is named, and for verify-full the host name too', async () => {
    const authority = `&sslrootcert=${join(folder, 'root.crt')}`;
    assert.equal(await encrypted(`?sslmode=verify-ca${authority}`), 't');
    const byName = url.replace('127.0.0.1', 'localhost');
    const executor = openExecutor(parseConnectionUrl(`${byName}?sslmode=verify-full${authority}`), {
      logger: silentLogger,
    });
    assert.equal((await executor.query('SELECT 1')).rowCount, 1);
    await executor.close();
    await assert.rejects(encrypted(`?sslmode=verify-full${authority}`), (error: unknown) => isRefusal(error, /IP/));
  });

  it('refuses an authority that is not known', async () => {
    await assert.rejects(encrypted('?sslmode=verify-ca'), (error: unknown) => isRefusal(error, /unable to verify/));
  });

  it('cancels statements by TLS as well', async () => {
    const executor = openExecutor(parseConnectionUrl(`${url}?sslmode=require`), { logger: silentLogger });
    const started = performance.now();
    await assert.rejects(executor.query('SELECT pg_sleep(60)', [], { timeoutMs: 100 }), /cancelled after 100 ms/);
    // Sooner than the connection would be cut because the server had not been notified.
    assert.ok(performance.now() - started < 4_000);
    await executor.close();
  });
});

function isRefusal(error: unknown, message: RegExp): boolean {
  return error instanceof DatabaseError && error.scope === 'caller' && message.test(error.message);
}
