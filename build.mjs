// Builds `dist`: beside it, then by a rename, so that whoever interrupts it keeps what there was. With `--if-needed`, nothing
// is done where `dist` is newer than all that it is made of.
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, readdirSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const root = import.meta.dirname;
const SOURCES = ['src', 'plugins', 'tsconfig.json', 'tsconfig.build.json'];
/** Parts of the console that are not built: its tests, and packages and caches in its own `node_modules`. */
const NOT_BUILT = ['test', 'node_modules'].map((name) => join(root, 'plugins', 'console', name));
const dist = join(root, 'dist');
const cli = join('src', 'cli.js');
const unfinished = join(root, `dist.unfinished-${String(process.pid)}`);
const replaced = join(root, `dist.replaced-${String(process.pid)}`);

/** When a file, or anything in a folder, was changed last; a folder is changed when something in it goes. */
function changedMs(path) {
  const { mtimeMs } = lstatSync(path);
  const names = lstatSync(path).isDirectory() ? readdirSync(path) : [];
  const built = names.map((name) => join(path, name)).filter((inner) => !NOT_BUILT.includes(inner));
  return built.reduce((latest, inner) => Math.max(latest, changedMs(inner)), mtimeMs);
}

function isBuilt() {
  if (!existsSync(join(dist, cli))) return false;
  const { mtimeMs } = lstatSync(dist);
  return SOURCES.every((name) => changedMs(join(root, name)) < mtimeMs);
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** What builds that were killed have left. */
function removeLeftovers() {
  for (const name of readdirSync(root)) {
    const pid = /^dist\.(?:unfinished|replaced)-(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(root, name), { recursive: true, force: true });
  }
}

let compiling;

function run(program, ...args) {
  return new Promise((resolve) => {
    compiling = spawn(process.execPath, [program, ...args], { cwd: root, stdio: 'inherit' });
    compiling.on('exit', (code) => resolve(code ?? 1));
  });
}

/** The program, and the console for browsers beside it. */
async function compile() {
  const { resolve } = createRequire(import.meta.url);
  const code = await run(resolve('typescript/bin/tsc'), '-p', 'tsconfig.build.json', '--outDir', unfinished);
  if (code !== 0) return code;
  const workspace = join(root, 'plugins', 'console');
  const bundler = createRequire(join(workspace, 'package.json')).resolve('vite/package.json');
  const vite = join(dirname(bundler), 'bin', 'vite.js');
  const config = join(workspace, 'vite.config.js');
  return run(vite, 'build', '--config', config, '--outDir', join(unfinished, 'console'), '--logLevel', 'warn');
}

/** Another build may do the same at the same time: then the later one stays. */
function replace() {
  for (;;) {
    try {
      if (existsSync(dist)) renameSync(dist, replaced);
      renameSync(unfinished, dist);
      return;
    } catch (error) {
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code) || !existsSync(unfinished)) throw error;
      rmSync(replaced, { recursive: true, force: true });
    }
  }
}

if (!process.argv.includes('--if-needed') || !isBuilt()) {
  const begun = new Date();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));
  process.on('exit', () => {
    compiling?.kill('SIGKILL');
    for (const folder of [unfinished, replaced]) rmSync(folder, { recursive: true, force: true });
  });
  removeLeftovers();
  process.exitCode = await compile();
  if (process.exitCode === 0) {
    chmodSync(join(unfinished, cli), 0o755);
    utimesSync(unfinished, begun, begun);
    replace();
  }
}
