import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/dev/ports.ts';
import { postgresAccount } from '../../src/dev/postgres/account.ts';
import { ServiceProcess } from '../../src/dev/service-process.ts';
import type { TestDatabase } from './test-database.ts';

const PATHS = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'];
const READY_MS = 20_000;

export type PoolMode = 'transaction' | 'session';

interface PgBouncerOptions {
  readonly mode: PoolMode;
  /** Further lines of the section `pgbouncer`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Name of the only database that pgbouncer passes on; default: all databases of the server. */
  readonly only?: string;
}

/** Settings with which every role of the server may log in to pgbouncer with its own password. */
export function everyRole({ user }: Pick<TestDatabase, 'user'>): Record<string, string> {
  return { auth_user: user, auth_query: 'SELECT usename, passwd FROM pg_shadow WHERE usename = $1' };
}

/** `undefined`: there is no pgbouncer on this machine (`PGBOUNCER` may name one). */
export function pgBouncerPath(): string | undefined {
  return [process.env['PGBOUNCER'] ?? '', ...PATHS].find((path) => path !== '' && existsSync(path));
}

/**
 * pgbouncer before the server of a database. Its port stays the same from start to start.
 *
 * running --kill--> gone --start--> running;  any --discard--> removed
 */
export class PgBouncer {
  /** The same database by way of pgbouncer. */
  readonly database: TestDatabase;
  readonly #program: string;
  readonly #folder: string;
  #process: ServiceProcess | undefined;

  private constructor(program: string, folder: string, database: TestDatabase) {
    this.#program = program;
    this.#folder = folder;
    this.database = database;
  }

  static async start(program: string, target: TestDatabase, options: PgBouncerOptions): Promise<PgBouncer> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-pgbouncer-'));
    const port = await freePort();
    const url = new URL(target.url);
    url.host = `127.0.0.1:${String(port)}`;
    const bouncer = new PgBouncer(program, folder, { ...target, host: '127.0.0.1', port, url: url.href });
    await writeFile(join(folder, 'users.txt'), `"${target.user}" "${target.password}"\n`);
    const settings: Record<string, string> = {
      listen_addr: '127.0.0.1',
      listen_port: String(port),
      unix_socket_dir: '',
      auth_type: 'scram-sha-256',
      auth_file: join(folder, 'users.txt'),
      pool_mode: options.mode,
      max_client_conn: '200',
      ...options.settings,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
    const databases = `${options.only ?? '*'} = host=${target.host} port=${String(target.port)}`;
    await writeFile(join(folder, 'pgbouncer.ini'), ['[databases]', databases, '[pgbouncer]', ...lines, ''].join('\n'));
    await bouncer.start();
    return bouncer;
  }

  async start(): Promise<void> {
    // Like PostgreSQL, it refuses to run as root.
    const account = await postgresAccount(this.#folder, [this.#program, this.#folder]);
    const process = await ServiceProcess.spawn({
      title: 'pgbouncer',
      ...account.command(this.#program, [join(this.#folder, 'pgbouncer.ini')]),
      logFile: join(this.#folder, 'log'),
      stopSignals: ['SIGINT', 'SIGKILL'],
      whenOrphaned: ['rm', '-rf', '--', this.#folder],
    });
    this.#process = process;
    await process.untilReady(() => isListening(this.database.port), READY_MS);
  }

  /** As `kill -9`: its connections to clients and servers break. */
  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  async discard(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
