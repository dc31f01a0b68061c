import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Authority, pkcs12File } from '../support/certificates.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { RowChain } from '../support/row-chain.ts';
import { SecurePostgres } from '../support/secure-postgres.ts';
import { SqlClient } from '../support/sql-client.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const PASSWORD = 'pass:word of the \\users';
const STORE_PASSWORD = 'the-password-of-stores';
/** Who may log in, and how. */
const ACCESS = {
  plain: 'hostnossl all plain 127.0.0.1/32 scram-sha-256',
  encrypted: 'hostssl all encrypted 127.0.0.1/32 scram-sha-256',
  anyhow: 'host all anyhow 127.0.0.1/32 scram-sha-256',
  certified: 'hostssl all certified 127.0.0.1/32 cert',
  doubly: 'hostssl all doubly 127.0.0.1/32 scram-sha-256 clientcert=verify-ca',
};
const SIDES = { source: 'chain_from', sink: 'chain_to' } as const;

type Options = Readonly<Record<string, string | undefined>>;

describe('a source and a sink of a worker, on a PostgreSQL with TLS,', function () {
  let folder: string;
  let postgres: SecurePostgres;
  let sql: SqlClient;
  let chain: RowChain;
  let worker: WorkerProcess;
  const file = (name: string): string => join(folder, name);
  const address = (host = '127.0.0.1'): string => `${host}:${String(postgres.server.port)}`;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-secured-'));
    const [authority, others] = await Promise.all([Authority.create('authority'), Authority.create('strangers')]);
    const [server, client, stranger] = await Promise.all([
      authority.issue('localhost', [{ type: 2, value: 'localhost' }]),
      authority.issue('certified'),
      others.issue('certified'),
    ]);
    postgres = await SecurePostgres.start({
      identity: server,
      clientAuthority: authority.certificate,
      access: Object.values(ACCESS),
    });
    const passwordText = `'${PASSWORD}'`;
    await postgres.run(
      'postgres',
      ...Object.keys(ACCESS).map((user) => `create role ${user} login password ${passwordText}`),
    );
    await postgres.createDatabase(SIDES.source);
    await postgres.createDatabase(SIDES.sink);
    const [from, to] = [postgres.database(SIDES.source), postgres.database(SIDES.sink)];
    sql = new SqlClient(from);
    chain = new RowChain(await KafkaTraffic.shared(), { from, to });
    const der = createPrivateKey(client.key).export({ format: 'der', type: 'pkcs8' });
    const escaped = PASSWORD.replace(/[\\:]/g, '\\$&');
    const services = Object.entries(SIDES).map(([service, dbname]) =>
      [
        `[${service}]`,
        'host=localhost',
        `port=${String(postgres.server.port)}`,
        `dbname=${dbname}`,
        'user=encrypted',
        'sslmode=verify-full',
        `sslrootcert=${file('root.crt')}`,
        `passfile=${file('passwords')}`,
      ].join('\n'),
    );
    await Promise.all([
      writeFile(file('root.crt'), authority.certificate),
      writeFile(file('others.crt'), others.certificate),
      writeFile(file('client.crt'), client.certificate),
      writeFile(file('client.key'), client.key, { mode: 0o600 }),
      writeFile(file('client.pk8'), der, { mode: 0o600 }),
      writeFile(file('stranger.crt'), stranger.certificate),
      writeFile(file('stranger.key'), stranger.key, { mode: 0o600 }),
      writeFile(
        file('passwords'),
        `# host:port:database:user:password\n${address('localhost')}:*:encrypted:${escaped}\n*:*:*:anyhow:${escaped}\n`,
        { mode: 0o600 },
      ),
      writeFile(file('services'), services.join('\n\n')),
      pkcs12File(folder, 'client', client, STORE_PASSWORD),
    ]);
    worker = await WorkerProcess.start({ environment: { PGSERVICEFILE: file('services') } });
  });
  after(async () => {
    await Promise.all([worker?.discard(), sql?.close()]);
    await postgres?.discard();
    await rm(folder, { recursive: true, force: true });
  });

  /** Options of the pair for a user, with parameters of the URL. */
  const pairOf = (user: string, parameters: string, more: Options & { host?: string } = {}): PairOptions => {
    const { host, ...options } = more;
    const of = (database: string): Options => ({
      'connection.url': `jdbc:db://${address(host)}/${database}?${parameters}`,
      'connection.user': user,
      'connection.password': PASSWORD,
      ...options,
    });
    return { source: of(SIDES.source), sink: of(SIDES.sink) };
  };
  /** Moves rows, and says which sessions the connectors had: user, TLS, name in the client certificate. */
  const sessionsOf = async (options: PairOptions): Promise<(string | null)[][]> => {
    const names = await chain.move(worker, options);
    const query = `select distinct usename, ssl, client_dn from pg_stat_activity join pg_stat_ssl using (pid)
      where application_name in ('sluice:${names.source}-0', 'sluice:${names.sink}-0')`;
    const own = new SqlClient(postgres.database(SIDES.source));
    const sessions = await own.rows(query);
    await own.close();
    await chain.remove(worker, names);
    return sessions;
  };
  const noSecretIn = (text: string): void => {
    for (const secret of [PASSWORD, STORE_PASSWORD, 'wrong-horse']) {
      assert.ok(!text.includes(secret), `a secret is in: ${text}`);
    }
  };

  for (const [user, mode, ssl] of [
    ['anyhow', 'disable', 'f'],
    ['anyhow', 'allow', 'f'],
    ['encrypted', 'allow', 't'],
    ['anyhow', 'prefer', 't'],
    ['plain', 'prefer', 'f'],
    ['anyhow', 'require', 't'],
  ] as const) {
    const how = ssl === 't' ? 'with TLS' : 'without TLS';
    it(`move rows by SCRAM ${how} with sslmode=${mode}, as ${ACCESS[user].split(' ')[0] ?? ''} allows`, async () => {
      assert.deepEqual(await sessionsOf(pairOf(user, `sslmode=${mode}`)), [[user, ssl, null]]);
    });
  }

  it('move rows with sslmode=verify-ca at an address, and with verify-full at the name that the certificate has', async () => {
    const trust = `sslrootcert=${file('root.crt')}`;
    const [byAddress, byName] = await Promise.all([
      sessionsOf(pairOf('encrypted', `sslmode=verify-ca&${trust}`)),
      sessionsOf(pairOf('encrypted', `sslmode=verify-full&${trust}`, { host: 'localhost' })),
    ]);
    assert.deepEqual([byAddress, byName], [[['encrypted', 't', null]], [['encrypted', 't', null]]]);
  });

  it('move rows with client certificates, their keys in PEM, DER and PKCS #12, without a password or besides one', async () => {
    const certificate = `sslmode=require&sslcert=${file('client.crt')}`;
    const noPassword = { 'connection.password': undefined };
    const all = await Promise.all([
      sessionsOf(pairOf('certified', `${certificate}&sslkey=${file('client.key')}`, noPassword)),
      sessionsOf(pairOf('certified', `${certificate}&sslkey=${file('client.pk8')}`, noPassword)),
      sessionsOf(
        pairOf('certified', `sslmode=require&sslkey=${file('client.p12')}&sslpassword=${STORE_PASSWORD}`, noPassword),
      ),
      sessionsOf(pairOf('doubly', `${certificate}&sslkey=${file('client.key')}`)),
    ]);
    assert.deepEqual(all, [
      ...['certified', 'certified', 'certified', 'doubly'].map((user) => [[user, 't', '/CN=certified']]),
    ]);
    noSecretIn(worker.log);
  });

  it('move rows with passwords of a passfile', async () => {
    const options = pairOf('anyhow', `passfile=${file('passwords')}`, { 'connection.password': undefined });
    assert.deepEqual(await sessionsOf(options), [['anyhow', 't', null]]);
    noSecretIn(worker.log);
  });

  it('move rows by the service file of PGSERVICEFILE, which names everything', async () => {
    const of = (service: string): Options => ({
      'connection.url': `jdbc:db://?service=${service}`,
      'connection.user': undefined,
      'connection.password': undefined,
    });
    assert.deepEqual(await sessionsOf({ source: of('source'), sink: of('sink') }), [['encrypted', 't', null]]);
    noSecretIn(worker.log);
  });

  it('are refused with one message when they are created', async () => {
    const trust = `sslrootcert=${file('root.crt')}`;
    const none = { 'connection.password': undefined };
    const readable = file('readable');
    await writeFile(readable, '*:*:*:*:wrong-horse\n');
    await chmod(readable, 0o644);
    const stranger = `sslcert=${file('stranger.crt')}&sslkey=${file('stranger.key')}`;
    const cases: [PairOptions, RegExp][] = [
      [
        pairOf('anyhow', 'sslmode=require', { 'connection.password': 'wrong-horse' }),
        /password authentication failed for user "anyhow"/,
      ],
      [pairOf('anyhow', 'sslmode=require', none), /the server requires a password: set connection\.password/],
      [pairOf('encrypted', 'sslmode=disable'), /no pg_hba\.conf entry for host .* no encryption/],
      [pairOf('plain', 'sslmode=require'), /no pg_hba\.conf entry for host .* SSL encryption/],
      [pairOf('encrypted', 'sslmode=verify-ca'), /self-signed certificate in certificate chain/],
      [
        pairOf('encrypted', `sslmode=verify-ca&sslrootcert=${file('others.crt')}`),
        /self-signed certificate in certificate chain/,
      ],
      [pairOf('encrypted', `sslmode=verify-full&${trust}`), /Hostname\/IP does not match certificate's altnames/],
      [pairOf('encrypted', `sslmode=verify-ca&sslrootcert=${file('none')}`), /sslrootcert ".*none" cannot be read/],
      [pairOf('certified', 'sslmode=require', none), /connection requires a valid client certificate/],
      [pairOf('certified', `sslmode=require&${stranger}`, none), /: tlsv1 alert unknown ca$/m],
      [
        pairOf('certified', `sslkey=${file('client.p12')}&sslpassword=wrong-horse`, none),
        /sslkey ".*client\.p12" cannot be used: .* \(sslpassword is its password\)/,
      ],
      [
        pairOf('plain', `passfile=${file('passwords')}`, none),
        /passfile ".*passwords" has no line for 127\.0\.0\.1:\d+:chain_(?:from|to):plain/,
      ],
      [pairOf('anyhow', `passfile=${file('none')}`, none), /passfile ".*none" cannot be read/],
      [pairOf('anyhow', `passfile=${readable}`, none), /passfile ".*readable" is readable by every user/],
      [pairOf('anyhow', `service=none&servicefile=${file('services')}`), /service "none" is not in .*services/],
    ];
    for (const [options, message] of cases) {
      const { names, source, sink } = await chain.pair(options);
      for (const [name, config] of [
        [names.source, source],
        [names.sink, sink],
      ] as const) {
        const answer = await worker.rest.post<{ message: string }>('/connectors', { name, config });
        assert.equal(answer.status, 400, JSON.stringify(answer.body));
        assert.match(answer.body.message, message);
        noSecretIn(answer.body.message);
      }
    }
    noSecretIn(worker.log);
  });

  it('use a password that was changed in the passfile for their next sessions', async () => {
    const changing = file('changing');
    const content = (password: string): string => `*:*:*:anyhow:${password}\n`;
    await writeFile(changing, content(PASSWORD.replace(/[\\:]/g, '\\$&')), { mode: 0o600 });
    const options = pairOf('anyhow', `passfile=${changing}`, { 'connection.password': undefined });
    const names = await chain.move(worker, options);
    await postgres.run('postgres', `alter role anyhow password 'another-one'`);
    await writeFile(changing, content('another-one'));
    await sql.run(`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'sluice:%'`);
    await chain.addRows(names.table);
    await chain.untilArrived(names.table);
    await chain.remove(worker, names);
  });
});

interface PairOptions {
  readonly source: Options;
  readonly sink: Options;
}
