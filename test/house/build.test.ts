import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../support/until.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));

/** Replaces the real compiler, which takes seconds. It copies the sources; `wait` and `fail` as a source are orders. */
const COMPILER = `
const fs = require('fs');
const parent = process.ppid;
const out = process.argv[process.argv.indexOf('--outDir') + 1];
for (const folder of ['src', 'plugins']) {
  fs.mkdirSync(out + '/' + folder, { recursive: true });
  for (const name of fs.readdirSync(folder)) {
    if (fs.statSync(folder + '/' + name).isDirectory()) continue;
    const text = fs.readFileSync(folder + '/' + name, 'utf8');
    if (text === 'fail') process.exitCode = 2;
    if (text === 'wait') setInterval(() => process.ppid === parent || process.exit(), 50);
    fs.writeFileSync(out + '/' + folder + '/' + name.replace('.ts', '.js'), text);
  }
}
`;

/** Replaces the bundler of the console. */
const BUNDLER = `
const fs = require('fs');
const out = process.argv[process.argv.indexOf('--outDir') + 1];
fs.mkdirSync(out, { recursive: true });
fs.writeFileSync(out + '/index.html', 'console');
`;

describe('the build of the package', () => {
  let root: string;

  beforeEach(async () => {
    // A path with blanks.
    root = join(await mkdtemp(join(tmpdir(), 'sluice-build-')), 'a check out');
    await mkdir(root);
    await cp(join(project, 'build.mjs'), join(root, 'build.mjs'));
    await write('node_modules/typescript/package.json', '{ "name": "typescript" }');
    await write('node_modules/typescript/bin/tsc', COMPILER);
    await write('plugins/console/node_modules/vite/package.json', '{ "name": "vite" }');
    await write('plugins/console/node_modules/vite/bin/vite.js', BUNDLER);
    await write('tsconfig.json', '{}');
    await write('tsconfig.build.json', '{}');
    await write('src/cli.ts', 'first');
    await write('src/other.ts', 'other');
    await write('plugins/one.ts', 'one');
    await write('plugins/console/test/one.test.ts', 'a test');
  });

  afterEach(() => rm(dirname(root), { recursive: true, force: true }));

  async function write(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }

  function start(...args: string[]) {
    return spawn(process.execPath, [join(root, 'build.mjs'), ...args], { stdio: 'ignore' });
  }

  async function build(...args: string[]): Promise<number> {
    const [code] = (await once(start(...args), 'exit')) as [number];
    return code;
  }

  const folders = async () => (await readdir(root)).filter((name) => name.startsWith('dist'));
  const builtAt = async () => (await stat(join(root, 'dist/src/cli.js'))).ctimeMs;

  it('does nothing where it is newer than its sources, if only needed; a source that changed or went is a reason, a test of the console is not', async () => {
    assert.equal(await build('--if-needed'), 0);
    const first = await builtAt();
    assert.equal((await stat(join(root, 'dist/src/cli.js'))).mode & 0o111, 0o111);
    assert.equal(await build('--if-needed'), 0);
    assert.equal(await builtAt(), first);
    await write('plugins/console/test/one.test.ts', 'a test of the console');
    const future = new Date(Date.now() + 60_000);
    await utimes(join(root, 'plugins/console/node_modules'), future, future);
    assert.equal(await build('--if-needed'), 0);
    assert.equal(await builtAt(), first);
    await rm(join(root, 'src/other.ts'));
    assert.equal(await build('--if-needed'), 0);
    assert.deepEqual((await readdir(join(root, 'dist/src'))).sort(), ['cli.js']);
    const past = new Date(Date.now() - 60_000);
    await utimes(join(root, 'dist'), past, past);
    await write('src/cli.ts', 'second');
    assert.equal(await build('--if-needed'), 0);
    assert.equal(await readFile(join(root, 'dist/src/cli.js'), 'utf8'), 'second');
    assert.deepEqual(await folders(), ['dist']);
  });

  it('keeps what was built when it is interrupted, when it is killed and when it fails, and leaves nothing else', async () => {
    assert.equal(await build(), 0);
    const first = await builtAt();
    for (const signal of ['SIGINT', 'SIGKILL'] as const) {
      await write('src/other.ts', 'wait');
      const child = start();
      const compiled = join(root, `dist.unfinished-${String(child.pid)}`, 'src', 'other.js');
      await until(() => existsSync(compiled), 'it compiles');
      child.kill(signal);
      await once(child, 'exit');
      assert.equal(await builtAt(), first);
    }
    await write('src/other.ts', 'fail');
    assert.equal(await build(), 2);
    assert.equal(await builtAt(), first);
    await write('src/other.ts', 'other');
    await mkdir(join(root, 'dist.unfinished-4194305'));
    assert.equal(await build(), 0);
    assert.deepEqual(await folders(), ['dist']);
  });
});
