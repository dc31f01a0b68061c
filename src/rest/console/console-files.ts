import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** A file of the built console. */
export interface ConsoleFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  /** Its name changes with its content. */
  readonly isFixed: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
/** Beside the compiled program, and where a checkout runs from its sources. */
const FOLDERS = ['../../../console/', '../../../dist/console/'];

/** By their paths below `/ui/`. Empty where the console was not built. */
export async function consoleFiles(): Promise<ReadonlyMap<string, ConsoleFile>> {
  for (const folder of FOLDERS.map((path) => fileURLToPath(new URL(path, import.meta.url)))) {
    const paths: readonly string[] = await readdir(folder, { recursive: true }).catch(() => []);
    if (!paths.includes('index.html')) continue;
    const known = paths.filter((path) => extname(path) in TYPES);
    return new Map(await Promise.all(known.map(async (path) => [path, await read(folder, path)] as const)));
  }
  return new Map();
}

async function read(folder: string, path: string): Promise<ConsoleFile> {
  const bytes = await readFile(folder + path);
  const type = TYPES[extname(path)] ?? '';
  return { type, bytes, gzipped: await promisify(gzip)(bytes, { level: 9 }), isFixed: path.startsWith('assets/') };
}
