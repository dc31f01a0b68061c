import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The files below these folders of the project and what each imports of the project, types included; paths from its top. */
export function importsBelow(...folders: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.split(sep).includes('node_modules'))
      .map((path) => join(folder, path))
      // A test that runs tests of its own at the same time creates these folders.
      .filter((path) => !path.startsWith(join('test', 'support', 'run-'))),
  );
  return new Map(files.map((file) => [file, importsOf(file)]));
}

/** Imports of a file of the project from the project, types included. */
export function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']*)'/g)].map(([, path = '']) =>
    normalize(join(dirname(file), path)),
  );
}
