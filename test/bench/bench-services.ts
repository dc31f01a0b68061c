import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { LocalKafka } from '../../src/dev/kafka.ts';
import { LocalPostgres } from '../../src/dev/postgres.ts';

/**
 * The broker and the database of a bench run: those named by `BOOTSTRAP_SERVERS` and `PGHOST`, `PGPORT`, `PGUSER`,
 * `PGPASSWORD`, `PGDATABASE` where set, else throw-away ones.
 */
export class BenchServices {
  readonly bootstrapServers: string;
  readonly database: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly password: string;
    readonly database: string;
  };
  readonly #client: pg.Client;
  readonly #endings: readonly (() => Promise<unknown>)[];

  private constructor(
    bootstrapServers: string,
    database: BenchServices['database'],
    client: pg.Client,
    endings: readonly (() => Promise<unknown>)[],
  ) {
    this.bootstrapServers = bootstrapServers;
    this.database = database;
    this.#client = client;
    this.#endings = endings;
  }

  static async open(): Promise<BenchServices> {
    const endings: (() => Promise<unknown>)[] = [];
    const { env } = process;
    let bootstrapServers = env['BOOTSTRAP_SERVERS'] ?? '';
    if (bootstrapServers === '') {
      const kafka = await LocalKafka.start();
      endings.push(() => kafka.discard());
      ({ bootstrapServers } = kafka);
    }
    let server = {
      host: env['PGHOST'] ?? '',
      port: Number(env['PGPORT'] ?? '5432'),
      user: env['PGUSER'] ?? 'postgres',
      password: env['PGPASSWORD'] ?? '',
    };
    if (server.host === '') {
      const postgres = await LocalPostgres.start({ settings: { shared_buffers: '512MB', max_wal_size: '4GB' } });
      endings.push(() => postgres.discard());
      server = { host: postgres.host, port: postgres.port, user: postgres.user, password: postgres.password };
    }
    const database = { ...server, database: env['PGDATABASE'] ?? 'postgres' };
    const client = new pg.Client(database);
    await client.connect();
    return new BenchServices(bootstrapServers, database, client, endings);
  }

  async query(sql: string): Promise<{ rows: unknown[][] }> {
    return this.#client.query<unknown[]>({ text: sql, rowMode: 'array' });
  }

  async number(sql: string): Promise<number> {
    return Number((await this.query(sql)).rows[0]?.[0]);
  }

  /** `\copy table from stdin` of this text over one connection; resolves with the seconds it took. */
  async copy(table: string, text: Iterable<string>): Promise<number> {
    const began = performance.now();
    await pipeline(Readable.from(text), this.#client.query(copyFrom(`copy ${table} from stdin`)));
    return (performance.now() - began) / 1000;
  }

  /** CPU seconds of all processes of a server on this machine since they began; NaN for a server elsewhere. */
  async databaseCpuSeconds(): Promise<number> {
    const { readFile, readdir } = await import('node:fs/promises');
    let ticks = 0;
    for (const pid of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      if (!stat.includes('(postgres)')) continue;
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      // utime, stime, and those of children that have ended.
      ticks += [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at] ?? 0), 0);
    }
    return ticks === 0 ? NaN : ticks / 100;
  }

  async close(): Promise<void> {
    await this.#client.end();
    for (const ending of [...this.#endings].reverse()) await ending();
  }
}
