import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { askServiceDoor } from './service-door.ts';
import { until } from './until.ts';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));
const COMPILER = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const ROOTS = ['src', 'plugins'];
const CONFIGURATION = ['package-lock.json', 'package.json', 'tsconfig.build.json', 'tsconfig.json'];
/** Long enough for a machine that is ten times as busy as it should be. */
const TURN_MS = 180_000;

let shared: Promise<{ readonly cli: string }> | undefined;

/**
 * Returns the path of the compiled `src/cli.ts`, which `node` can run. The first call of a run compiles the sources if
 * they have changed since the last build. The lanes of a parallel run share the build, because compiling costs seconds
 * of CPU.
 */
export async function builtCli(): Promise<string> {
  shared ??= askServiceDoor('/build', async () => {
    return { cli: join(await buildProject(projectRoot), 'src', 'cli.js') };
  });
  return (await shared).cli;
}

/**
 * Compiles `src` and `plugins` of a project into its `dist-test`, which has the layout of `dist`, and returns that
 * folder. Does not check types. If several processes call this at the same time, only one of them compiles.
 */
export async function buildProject(root: string): Promise<string> {
  const folder = join(root, 'dist-test');
  await mkdir(folder, { recursive: true });
  const lock = join(folder, 'lock');
  await until(() => takes(lock), `another process compiles (or ${lock} is to be removed)`, { timeoutMs: TURN_MS });
  try {
    const record = join(folder, 'inputs.json');
    const inputs = JSON.stringify(await inputsOf(root));
    if (inputs === (await readFile(record, 'utf8').catch(() => undefined))) return folder;
    await rm(record, { force: true });
    await removeOrphans(root, folder);
    await compile(root, folder);
    await writeFile(record, inputs);
    return folder;
  } finally {
    await rm(lock, { force: true });
  }
}

async function takes(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!isRunning(Number(await readFile(lock, 'utf8')))) await rm(lock, { force: true });
    return false;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Returns each input file of the build, with its size and modification time. */
async function inputsOf(root: string): Promise<readonly string[]> {
  const configuration = CONFIGURATION.filter((name) => existsSync(join(root, name)));
  const sources = await Promise.all(ROOTS.map((name) => filesBelow(root, name, '.ts')));
  return Promise.all(
    [...configuration, ...sources.flat()].map(async (path) => {
      const { size, mtimeMs } = await stat(join(root, path));
      return `${path} ${String(size)} ${String(mtimeMs)}`;
    }),
  );
}

/** Removes compiled modules without a source file, because imports would still find them. */
async function removeOrphans(root: string, folder: string): Promise<void> {
  const outputs = (await Promise.all(ROOTS.map((name) => filesBelow(folder, name, '.js')))).flat();
  const orphans = outputs.filter((path) => !existsSync(join(root, path.replace(/\.js$/, '.ts'))));
  await Promise.all(orphans.map((path) => rm(join(folder, path))));
}

async function filesBelow(folder: string, name: string, extension: string): Promise<readonly string[]> {
  if (!existsSync(join(folder, name))) return [];
  const paths = await readdir(join(folder, name), { recursive: true });
  return paths
    .filter((path) => path.endsWith(extension))
    .map((path) => join(name, path))
    .sort();
}

async function compile(root: string, folder: string): Promise<void> {
  const state = ['--incremental', '--tsBuildInfoFile', join(folder, 'tsbuildinfo')];
  const output = ['--outDir', folder, '--declaration', 'false', '--sourceMap', '--noCheck', '--pretty', 'false'];
  try {
    await promisify(execFile)(process.execPath, [COMPILER, '-p', 'tsconfig.build.json', ...output, ...state], {
      cwd: root,
    });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`The worker for the tests could not be compiled:\n${(stdout + stderr).trim()}`);
  }
}
