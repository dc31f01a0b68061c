import pg from 'pg';
import { onServer, ownPostgres, type ServerAccess, type TestDatabase } from './services.ts';
import { until } from './until.ts';
import type { Identity } from './certificates.ts';

type OwnPostgres = Awaited<ReturnType<typeof ownPostgres>>;

export interface SecureSettings {
  readonly identity: Identity;
  /** Certificate of the authority for client certificates, in PEM. */
  readonly clientAuthority?: string;
  /** Lines of pg_hba.conf that precede the line for the superuser. */
  readonly access?: readonly string[];
}

/** A PostgreSQL with TLS for one test, which must discard it. */
export class SecurePostgres {
  readonly server: ServerAccess;
  readonly #postgres: OwnPostgres;

  private constructor(postgres: OwnPostgres) {
    this.#postgres = postgres;
    this.server = postgres;
  }

  static async start(settings: SecureSettings): Promise<SecurePostgres> {
    const postgres = await ownPostgres();
    const client = new pg.Client(onServer(postgres, 'postgres'));
    await client.connect();
    try {
      await turnTlsOn(client, postgres, settings);
    } finally {
      await client.end();
    }
    return new SecurePostgres(postgres);
  }

  /** Returns the superuser's access to a database. */
  database(name: string): TestDatabase {
    return onServer(this.server, name);
  }

  /** Creates a database in which every user may create tables. */
  async createDatabase(name: string): Promise<void> {
    await this.run('postgres', `create database ${name}`);
    await this.run(name, 'grant all on schema public to public');
  }

  async run(database: string, ...statements: readonly string[]): Promise<void> {
    const client = new pg.Client(onServer(this.server, database));
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  }

  discard(): Promise<void> {
    return this.#postgres.discard();
  }
}

/** The server itself writes the files, because the key must belong to the account of the server. */
async function turnTlsOn(client: pg.Client, { user }: ServerAccess, settings: SecureSettings): Promise<void> {
  const { identity, clientAuthority, access = [] } = settings;
  const files: Record<string, string> = {
    'server.key': identity.key,
    'server.crt': identity.certificate,
    'root.crt': clientAuthority ?? identity.certificate,
    'pg_hba.conf': [...access, `host all ${user} 127.0.0.1/32 scram-sha-256`, ''].join('\n'),
  };
  for (const [name, content] of Object.entries(files)) {
    const lines = pg.escapeLiteral(content.trim().replaceAll('\r', ''));
    await client.query(
      `COPY (SELECT unnest(string_to_array(${lines}, E'\\n'))) TO PROGRAM 'cat > ${name}; chmod 600 ${name}'`,
    );
  }
  await client.query(`ALTER SYSTEM SET ssl_ca_file = 'root.crt'`);
  await client.query('ALTER SYSTEM SET ssl = on');
  await client.query('SELECT pg_reload_conf()');
  await until(
    async () => (await client.query<{ ssl: string }>('SHOW ssl')).rows[0]?.ssl === 'on',
    'the server has TLS',
  );
}
