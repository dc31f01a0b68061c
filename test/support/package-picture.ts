import { importsBelow } from './imports.ts';

/** Returns the package of a file: a folder or a file of `src` or of `plugins/database`, or another plugin. */
function packageOf(file: string): string {
  const [top = '', name = '', part = ''] = file.split('/');
  if (top === 'src') return name;
  return name === 'database' ? `${top}/${name}/${part}` : `${top}/${name}`;
}

/** Returns the other packages that each package imports, including types. */
function imported(): ReadonlyMap<string, ReadonlySet<string>> {
  const packages = new Map<string, Set<string>>();
  for (const [file, files] of importsBelow('src', 'plugins')) {
    if (file.includes('/test/')) continue;
    const name = packageOf(file);
    const others = packages.get(name) ?? new Set();
    for (const other of files.map(packageOf)) if (other !== name) others.add(other);
    packages.set(name, others);
  }
  return packages;
}

/**
 * Returns the packages in rows. Each package imports only from lower rows, and is in the lowest possible row. The
 * number in parentheses counts the packages that it imports.
 */
export function packagePicture(): string {
  const packages = imported();
  const levels = new Map<string, number>();
  const levelOf = (name: string): number => {
    const known = levels.get(name);
    if (known !== undefined) return known;
    const level = Math.max(-1, ...[...(packages.get(name) ?? [])].map(levelOf)) + 1;
    levels.set(name, level);
    return level;
  };
  const rows: string[][] = [];
  for (const name of [...packages.keys()].sort()) (rows[levelOf(name)] ??= []).push(name);
  const shown = (name: string): string => `${name} (${String(packages.get(name)?.size ?? 0)})`;
  return rows
    .map((row) => row.map(shown).join('   '))
    .reverse()
    .join('\n');
}
