import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from './worker-under-test.ts';

/** Says so when the build that is measured is older than what it is built from. */
export async function warnOfStaleBuild(): Promise<void> {
  if (process.env['BENCH_CLI'] !== undefined) return;
  const built = await newest(join(projectRoot, 'dist'), '.js');
  const sources = await Promise.all(['src', 'plugins'].map((folder) => newest(join(projectRoot, folder), '.ts')));
  if (Math.max(...sources) > built) {
    process.stderr.write('The build is older than the sources: npm run build makes it anew\n');
  }
}

async function newest(folder: string, extension: string): Promise<number> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith(extension));
  const times = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).mtimeMs));
  return Math.max(0, ...times);
}
