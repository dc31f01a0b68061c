import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { toError } from '../../../errors.ts';
import { readPluginPackage, type PluginPackage } from './manifest.ts';

export interface PluginPathScan {
  readonly packages: readonly PluginPackage[];
  /** One sentence for each entry of `plugin.path`, folder or package that cannot be used. */
  readonly warnings: readonly string[];
}

/**
 * Finds the packages in `plugin.path` without loading them. An entry is a package, a folder of packages, a folder into which
 * packages were installed (`npm install --prefix`), or a folder of such folders. It may also be the name of a package that is
 * installed in the worker's current folder or above it. Folders of Java plugins are ignored. An invalid entry does not affect the
 * other entries.
 */
export async function scanPluginPath(entries: readonly string[]): Promise<PluginPathScan> {
  const scan = new Scan();
  for (const entry of entries) await scan.entry(entry);
  return scan;
}

class Scan implements PluginPathScan {
  readonly packages: PluginPackage[] = [];
  readonly warnings: string[] = [];
  readonly #seen = new Set<string>();

  async entry(entry: string): Promise<void> {
    const folder = (await isFolder(entry)) ? resolve(entry) : await installedPackage(entry);
    if (folder === undefined) {
      this.warnings.push(`plugin.path: ${entry} is ignored: there is no such folder and no such package`);
      return;
    }
    if (await this.#package(folder)) return;
    await this.#nodeModules(folder);
    for (const child of await this.#folders(folder)) {
      if (child === 'node_modules') continue;
      const path = join(folder, child);
      if (child.startsWith('@')) await this.#packages(path);
      else if (!(await this.#package(path))) await this.#nodeModules(path);
    }
  }

  async #nodeModules(folder: string): Promise<void> {
    const modules = join(folder, 'node_modules');
    if (!(await isFolder(modules))) return;
    await this.#packages(modules);
    for (const scope of await this.#folders(modules)) {
      if (scope.startsWith('@')) await this.#packages(join(modules, scope));
    }
  }

  async #packages(folder: string): Promise<void> {
    for (const child of await this.#folders(folder)) await this.#package(join(folder, child));
  }

  /** Adds the package in the folder. Returns whether it is a package with Sluice plugins, valid or not. */
  async #package(folder: string): Promise<boolean> {
    try {
      const real = await realpath(folder);
      if (this.#seen.has(real)) return true;
      const found = await readPluginPackage(real);
      if (found === undefined) return false;
      this.#seen.add(real);
      this.packages.push(found);
    } catch (error) {
      this.warnings.push(`The plugin package in ${folder} is ignored: ${toError(error).message}`);
    }
    return true;
  }

  async #folders(folder: string): Promise<string[]> {
    try {
      const entries = await readdir(folder, { withFileTypes: true });
      return entries
        .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
        .map(({ name }) => name)
        .sort();
    } catch (error) {
      this.warnings.push(`plugin.path: ${folder} is ignored: ${toError(error).message}`);
      return [];
    }
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

/** Finds a package by name in the `node_modules` of the current folder and the folders above it. */
async function installedPackage(name: string): Promise<string | undefined> {
  if (!/^(@[\w.-]+\/)?[\w-][\w.-]*$/.test(name)) return undefined;
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (await isFolder(candidate)) return candidate;
    if (folder === dirname(folder)) return undefined;
  }
}
