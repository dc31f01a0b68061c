import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Returns the imports of each file below these folders, including types. Only files of the project count; paths start
 * at its root.
 */
export function importsBelow(...folders: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.split(sep).includes('node_modules'))
      .map((path) => join(folder, path))
      // A test that runs other tests at the same time creates these folders.
      .filter((path) => !path.startsWith(join('test', 'support', 'run-'))),
  );
  return new Map(files.map((file) => [file, importsOf(file)]));
}

/** Returns the project files that a file of the project imports, including types. */
export function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']*)'/g)].map(([, path = '']) =>
    normalize(join(dirname(file), path)),
  );
}
