import { execFile } from 'node:child_process';
import { chownSync, existsSync, statSync } from 'node:fs';
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

/** The account under which PostgreSQL's programs are started, because they refuse to run as root. */
export interface PostgresAccount {
  /** The command that runs a program of PostgreSQL. */
  command(program: string, args: readonly string[]): AccountCommand;
  /** Changes the owner of a file or folder to the account. */
  own(path: string): void;
}

interface Ids {
  readonly uid: number;
  readonly gid: number;
}

const NOBODY_ELSE: Pick<PostgresAccount, 'own'> = { own: () => undefined };

/**
 * Chooses the account for PostgreSQL's programs. A user other than root runs them under its own account. Root runs them
 * in a user namespace, in which root is mapped to nobody and keeps its access to folders. Without user namespaces, root
 * runs them as the user `postgres`, which is created if it does not exist. If this user cannot access `paths`, setpriv
 * gives it the capability to access all folders (CAP_DAC_OVERRIDE), which root also has in a container. If the data
 * already belongs to another user, root runs the programs as this user.
 */
export async function postgresAccount(dataDir: string, paths: readonly string[]): Promise<PostgresAccount> {
  if (userInfo().uid !== 0) return { ...NOBODY_ELSE, command: (command, args) => ({ command, args }) };
  const owner = existsSync(dataDir) ? statSync(dataDir) : undefined;
  if ((owner === undefined || owner.uid === 0) && (await hasNamespaces())) {
    return {
      ...NOBODY_ELSE,
      command: (program, args) => ({ command: 'unshare', args: ['--user', program, ...args] }),
    };
  }
  const barred = paths.map(barrierTo).find((folder) => folder !== undefined);
  if (barred !== undefined && !(await canHandDown())) {
    throw new ConnectError(
      'PostgreSQL does not run as root. Here root cannot make a user namespace (unshare --user), and another user cannot ' +
        `enter ${barred}. Any one of these helps: work as an ordinary user; work in a folder that others may enter ` +
        `(/opt, /srv), or allow it (chmod o+x ${barred}); allow user namespaces`,
    );
  }
  const account = owner !== undefined && owner.uid !== 0 ? owner : ((await lookUp()) ?? (await createUser()));
  const { uid, gid } = account;
  return {
    own: (path) => {
      chownSync(path, uid, gid);
    },
    command: (command, args) =>
      barred === undefined
        ? { command, args, account: { uid, gid } }
        : { command: 'setpriv', args: [...asUser(uid, gid), command, ...args] },
  };
}

/** Arguments of setpriv, which replaces itself with the program, so that the process id is that of the program. */
function asUser(uid: number, gid: number): readonly string[] {
  const ids = [`--reuid=${String(uid)}`, `--regid=${String(gid)}`, '--clear-groups'];
  // PostgreSQL uses access(2), which ignores the capabilities of users other than root unless this bit is set.
  return [...ids, '--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup'];
}

/** Whether root can grant another user access to all folders. The user with the id 1 is tried. */
function canHandDown(): Promise<boolean> {
  return run('setpriv', [...asUser(1, 1), 'true']).then(
    () => true,
    () => false,
  );
}

/** Whether `unshare` can create a user namespace in which the current user is not root. */
function hasNamespaces(): Promise<boolean> {
  return run('unshare', ['--user', 'id', '-un']).then(
    ({ stdout }) => stdout.trim() !== 'root',
    () => false,
  );
}

async function lookUp(): Promise<Ids | undefined> {
  try {
    const [user, group] = await Promise.all([run('id', ['-u', 'postgres']), run('id', ['-g', 'postgres'])]);
    return { uid: Number(user.stdout), gid: Number(group.stdout) };
  } catch {
    return undefined;
  }
}

async function createUser(): Promise<Ids> {
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', 'postgres']);
  } catch (error) {
    throw new ConnectError(
      'PostgreSQL does not run as root, and a user postgres could not be created (useradd). Work as an ordinary user',
      { cause: error },
    );
  }
  const ids = await lookUp();
  if (ids === undefined) throw new ConnectError('The user postgres was created but cannot be found');
  return ids;
}

/** The outermost folder above `path` that users other than its owner and its group cannot enter. */
function barrierTo(path: string): string | undefined {
  const above: string[] = [];
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    above.unshift(folder);
    if (folder === dirname(folder)) break;
  }
  return above.find((folder) => existsSync(folder) && (statSync(folder).mode & 0o001) === 0);
}
