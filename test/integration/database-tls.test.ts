import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openExecutor, parseConnectionUrl } from '../../src/database/open-executor.ts';
import { DatabaseError } from '../../src/errors.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { onServer, ownPostgres } from '../support/services.ts';
import { until } from '../support/until.ts';

type OwnPostgres = Awaited<ReturnType<typeof ownPostgres>>;

describe('a database connection by TLS', () => {
  let folder: string;
  let postgres: OwnPostgres;
  let url: string;

  before(async function (this: Mocha.Context) {
    folder = await mkdtemp(join(tmpdir(), 'sluice-tls-'));
    if (!makeCertificate(folder)) {
      console.log('    (no openssl command here: connections by TLS are not tested)');
      this.skip();
    }
    postgres = await ownPostgres();
    const access = onServer(postgres, 'postgres');
    url = access.url;
    await turnTlsOn(new pg.Client(access), folder);
  });

  after(async () => {
    await postgres?.discard();
    await rm(folder, { recursive: true, force: true });
  });

  async function encrypted(parameters: string): Promise<string | null | undefined> {
    const executor = openExecutor(parseConnectionUrl(url + parameters), { logger: silentLogger });
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

  it('trusts the authority that is named, and for verify-full the host name too', async () => {
    const authority = `&sslrootcert=${join(folder, 'server.crt')}`;
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
    await assert.rejects(encrypted('?sslmode=verify-ca'), (error: unknown) => isRefusal(error, /self-signed/));
  });

  it('cancels statements by TLS as well', async () => {
    const executor = openExecutor(parseConnectionUrl(`${url}?sslmode=require`), { logger: silentLogger });
    const started = performance.now();
    await assert.rejects(executor.query('SELECT pg_sleep(60)', [], { timeoutMs: 100 }), /cancelled after 100 ms/);
    // Sooner than the connection would be cut because the server had not been told.
    assert.ok(performance.now() - started < 4_000);
    await executor.close();
  });
});

function isRefusal(error: unknown, message: RegExp): boolean {
  return error instanceof DatabaseError && error.scope === 'caller' && message.test(error.message);
}

/** A certificate for `localhost` that is its own authority; `false` without the command to make one. */
function makeCertificate(folder: string): boolean {
  const files = ['-keyout', join(folder, 'server.key'), '-out', join(folder, 'server.crt')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  try {
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...files], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}

/** The server writes the files itself: the key must belong to its own account. */
async function turnTlsOn(client: pg.Client, folder: string): Promise<void> {
  await client.connect();
  for (const name of ['server.key', 'server.crt']) {
    const lines = pg.escapeLiteral((await readFile(join(folder, name), 'utf8')).trim());
    await client.query(
      `COPY (SELECT unnest(string_to_array(${lines}, E'\\n'))) TO PROGRAM 'cat > ${name}; chmod 600 ${name}'`,
    );
  }
  await client.query('ALTER SYSTEM SET ssl = on');
  await client.query('SELECT pg_reload_conf()');
  await until(
    async () => (await client.query<{ ssl: string }>('SHOW ssl')).rows[0]?.ssl === 'on',
    'the server has TLS',
  );
  await client.end();
}
