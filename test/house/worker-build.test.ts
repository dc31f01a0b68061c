import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildProject } from '../support/worker-build.ts';

describe('the build that tests start workers from', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'sluice-build-'));
    await write('package.json', '{ "type": "module" }');
    await write(
      'tsconfig.build.json',
      JSON.stringify({
        compilerOptions: { module: 'NodeNext', target: 'ES2023', lib: ['ES5'], types: [], rootDir: '.' },
        include: ['src', 'plugins'],
      }),
    );
    await write('src/cli.ts', 'export const name: string = "first";\n');
    await write('plugins/one/other.ts', 'export const other = 1;\n');
  });

  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  async function write(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }

  const built = (path: string): string => join(root, 'dist-test', path);
  const text = (path: string): Promise<string> => readFile(built(path), 'utf8');
  const writtenAt = async (path: string): Promise<number> => (await stat(built(path))).mtimeMs;

  it('serves callers at the same time, and is compiled again only after a change, where something changed', async () => {
    const folders = await Promise.all([buildProject(root), buildProject(root)]);
    assert.deepEqual(
      folders,
      [built(''), built('')].map((path) => path.replace(/\/$/, '')),
    );
    assert.match(await text('src/cli.js'), /^export const name = "first";$/m);
    const [compiledAt, otherAt] = [await writtenAt('tsbuildinfo'), await writtenAt('plugins/one/other.js')];
    await buildProject(root);
    assert.equal(await writtenAt('tsbuildinfo'), compiledAt);
    await write('src/cli.ts', 'export const name: string = "the second";\n');
    await buildProject(root);
    assert.match(await text('src/cli.js'), /"the second"/);
    assert.equal(await writtenAt('plugins/one/other.js'), otherAt);
  });

  it('loses what was compiled from a source that is gone', async () => {
    await buildProject(root);
    await rm(join(root, 'plugins'), { recursive: true });
    await buildProject(root);
    assert.deepEqual(['src/cli.js', 'plugins/one/other.js'].map(built).map(existsSync), [true, false]);
  });

  it("fails with the compiler's message until the source is fixed", async () => {
    await write('src/cli.ts', 'export const name = ;\n');
    for (let run = 0; run < 2; run += 1) {
      await assert.rejects(buildProject(root), {
        message:
          'The worker for the tests could not be compiled:\nsrc/cli.ts(1,21): error TS1109: Expression expected.',
      });
    }
    await write('src/cli.ts', 'export const name = 1;\n');
    await buildProject(root);
    assert.match(await text('src/cli.js'), /^export const name = 1;$/m);
  });

  it('is made although the process that compiled before was killed', async () => {
    const noProcess = '4194305';
    await write('dist-test/lock', noProcess);
    await buildProject(root);
    assert.deepEqual(['src/cli.js', 'lock'].map(built).map(existsSync), [true, false]);
  });
});
