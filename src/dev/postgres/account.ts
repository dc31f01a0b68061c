import { execFile } from 'node:child_process';
import { chownSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';
import { ConnectError } from '../../errors.ts';

const run = promisify(execFile);

export interface AccountCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly account?: { readonly uid: number; readonly gid: number };
}

/** How PostgreSQL's programs are started: as this user, or, since they refuse to run as root, as user `postgres`. */
export interface PostgresAccount {
  /** What to spawn for a program of PostgreSQL; `paths` are the files and folders it must reach. */
  command(program: string, args: readonly string[], paths: readonly string[]): AccountCommand;
  /** Hands a file or folder over. */
  own(path: string): void;
}

/** As root, user `postgres` is made when it does not exist. */
export async function postgresAccount(): Promise<PostgresAccount> {
  if (userInfo().uid !== 0) return { own: () => undefined, command: (command, args) => ({ command, args }) };
  const account = (await lookUp()) ?? (await createUser());
  return {
    own: (path) => {
      chownSync(path, account.uid, account.gid);
    },
    command: (program, args, paths) => {
      if ([program, ...paths].every(reachableByOthers)) return { command: program, args, account };
      // A checkout below /root cannot be entered by others: the program keeps root's right to pass, and nothing else.
      const user = ['--reuid', String(account.uid), '--regid', String(account.gid), '--clear-groups'];
      const right = ['--inh-caps', '+dac_override', '--ambient-caps', '+dac_override'];
      return { command: 'setpriv', args: [...user, ...right, program, ...args] };
    },
  };
}

async function lookUp(): Promise<{ uid: number; gid: number } | undefined> {
  try {
    const [user, group] = await Promise.all([run('id', ['-u', 'postgres']), run('id', ['-g', 'postgres'])]);
    return { uid: Number(user.stdout), gid: Number(group.stdout) };
  } catch {
    return undefined;
  }
}

async function createUser(): Promise<{ uid: number; gid: number }> {
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', 'postgres']);
  } catch (error) {
    throw new ConnectError('PostgreSQL does not run as root, and a user postgres could not be created', {
      cause: error,
    });
  }
  const ids = await lookUp();
  if (ids === undefined) throw new ConnectError('The user postgres was created but cannot be found');
  return ids;
}

/** Whether every folder above `path` may be passed by users that do not own it. */
function reachableByOthers(path: string): boolean {
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}
