import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/dev/ports.ts';
import { postgresAccount } from '../../src/dev/postgres/account.ts';
import { logTail, ServiceProcess } from '../../src/dev/service-process.ts';
import type { TestDatabase } from './services.ts';

/** The place of the Debian package. */
const PGBOUNCER = '/usr/sbin/pgbouncer';
const START_TIMEOUT_MS = 30_000;

/** Whether pgbouncer is installed (`apt-get install pgbouncer`). */
export const hasPooler = existsSync(PGBOUNCER);

/** A pooler in front of a server; every user is that of the database. To be discarded by the test. */
export class Pooler {
  readonly db: TestDatabase;
  readonly #folder: string;
  readonly #process: ServiceProcess;

  private constructor(db: TestDatabase, folder: string, process: ServiceProcess) {
    this.db = db;
    this.#folder = folder;
    this.#process = process;
  }

  /** @param ignored parameters of the start of a connection that are not refused */
  static async start(server: TestDatabase, ignored: readonly string[]): Promise<Pooler> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-pooler-'));
    const port = await freePort();
    const { host, user, password } = server;
    const file = join(folder, 'pgbouncer.ini');
    const logFile = join(folder, 'pgbouncer.log');
    const settings = [
      '[databases]',
      `* = host=${host} port=${String(server.port)} user=${user} password=${password}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${String(port)}`,
      'unix_socket_dir =',
      'auth_type = any',
      `ignore_startup_parameters = ${ignored.join(',')}`,
    ];
    await writeFile(file, settings.join('\n'));
    // It does not run as root either.
    const account = await postgresAccount(folder, [PGBOUNCER, file]);
    for (const path of [folder, file]) account.own(path);
    const process = await ServiceProcess.spawn({
      title: 'pgbouncer',
      ...account.command(PGBOUNCER, [file]),
      logFile,
      stopSignals: ['SIGINT', 'SIGKILL'],
    });
    const pooler = new Pooler({ ...server, port }, folder, process);
    await process.untilReady(async () => (await logTail(logFile)).includes('process up'), START_TIMEOUT_MS);
    return pooler;
  }

  async discard(): Promise<void> {
    await this.#process.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
