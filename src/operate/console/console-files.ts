import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** A file of the built console. */
export interface ConsoleFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  /** Whether the content behind this name never changes, because the name contains a hash of the content. */
  readonly isFixed: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The files of the console by their paths below `/ui/`; empty if the console was not built. */
export async function consoleFiles(): Promise<ReadonlyMap<string, ConsoleFile>> {
  const folder = join(packageRoot(dirname(fileURLToPath(import.meta.url))), 'dist', 'console');
  const paths: readonly string[] = await readdir(folder, { recursive: true }).catch(() => []);
  const known = paths.filter((path) => extname(path) in TYPES);
  return new Map(await Promise.all(known.map(async (path) => [path, await read(folder, path)] as const)));
}

/** The folder of the package, whether the program runs compiled or from its sources. */
function packageRoot(folder: string): string {
  const parent = dirname(folder);
  return existsSync(join(folder, 'package.json')) || parent === folder ? folder : packageRoot(parent);
}

async function read(folder: string, path: string): Promise<ConsoleFile> {
  const bytes = await readFile(join(folder, path));
  const type = TYPES[extname(path)] ?? '';
  return { type, bytes, gzipped: await promisify(gzip)(bytes, { level: 9 }), isFixed: path.startsWith('assets/') };
}
