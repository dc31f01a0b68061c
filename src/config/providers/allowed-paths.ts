import { existsSync } from 'node:fs';
import { isAbsolute, normalize, sep } from 'node:path';
import { ConfigError } from '../../errors.ts';
import { listEntries } from '../list-text.ts';

/**
 * The paths that a provider may read: those under `allowed.paths`, or all paths if the list is absent or
 * empty (org.apache.kafka.common.config.internals.AllowedPaths). As in Java, symbolic links are not resolved for the
 * comparison, so that mounted secrets, which are links, can be read.
 */
export class AllowedPaths {
  readonly #roots: readonly string[] | undefined;

  /** Throws a ConfigError for an entry that is not absolute or does not exist. */
  constructor(list: string | undefined) {
    const given = listEntries(list);
    this.#roots = given.length === 0 ? undefined : given.map(existingRoot);
  }

  /** The path to read; `undefined` if it is not allowed. */
  resolve(path: string): string | undefined {
    if (this.#roots === undefined) return path;
    const normal = withoutEndingSlash(normalize(path));
    return this.#roots.some((root) => isWithin(normal, root)) ? normal : undefined;
  }
}

function existingRoot(entry: string): string {
  const root = withoutEndingSlash(normalize(entry));
  if (!isAbsolute(root)) throw new ConfigError(`Path ${root} is not absolute`);
  if (!existsSync(root)) throw new ConfigError(`Path ${root} does not exist`);
  return root;
}

function isWithin(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

function withoutEndingSlash(path: string): string {
  return path.length > 1 && path.endsWith(sep) ? path.slice(0, -1) : path;
}
