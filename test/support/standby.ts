import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LocalPostgres } from '../../src/dev/postgres.ts';
import type { SqlClient } from './sql-client.ts';

export interface StandbyOptions {
  readonly primary: LocalPostgres;
  /** Logged in to the primary as its superuser. */
  readonly sql: SqlClient;
  /** Replaced by a copy of the primary's folder. */
  readonly dataDir: string;
  readonly port: number;
  /** Where the standby receives the log from: the primary, or a proxy before it. */
  readonly upstream: { readonly port: number };
  readonly settings: Readonly<Record<string, string>>;
}

/** Starts a standby on a copy of the running primary, whose log it receives. To be discarded by the test. */
export async function startStandby(options: StandbyOptions): Promise<LocalPostgres> {
  const { primary, sql, dataDir, port, upstream, settings } = options;
  await rm(dataDir, { recursive: true, force: true });
  await sql.run(`select pg_backup_start('standby', true)`);
  // Files that are removed meanwhile are restored by the log.
  await cp(primary.dataDir, dataDir, { recursive: true, filter: (path) => !path.endsWith('postmaster.pid') });
  const [[label = null] = []] = await sql.rows('select labelfile from pg_backup_stop()');
  await writeFile(join(dataDir, 'backup_label'), label ?? '');
  await writeFile(join(dataDir, 'standby.signal'), '');
  const { user, password } = primary;
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
