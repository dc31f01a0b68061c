import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { closingLine } from '../support/closing-line.ts';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

describe('a test run', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(projectRoot, 'test', 'support', 'run-'));
  });

  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs a test file with the project's own configuration, and gives the last line printed and the exit code. */
  async function run(source: string, ...more: string[]): Promise<{ last: string; code: number; output: string }> {
    const file = join(folder, 'case.test.ts');
    await writeFile(file, source);
    return runFile(file, {}, ...more);
  }

  async function runFile(
    file: string,
    environment: Readonly<Record<string, string>>,
    ...more: string[]
  ): Promise<{ last: string; code: number; output: string }> {
    const child = spawn(process.execPath, ['node_modules/mocha/bin/mocha.js', file, ...more], {
      cwd: projectRoot,
      env: {
        ...process.env,
        CI: '',
        MOCHA_WORKER_ID: undefined,
        SLUICE_TEST_SECOND_TRY: undefined,
        SLUICE_TEST_OUTCOMES: undefined,
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
    const [code] = (await once(child, 'close')) as [number];
    return { last: output.split('\n').at(-2) ?? '', code, output };
  }

  it('that passes ends with its counts alone on the last line', async () => {
    const { last, code } = await run(`it('a', () => {}); it.skip('b', () => {});`);
    assert.deepEqual([last, code], ['1 passed, 0 failed, 1 skipped', 0]);
  });

  it('that fails shows the difference and exits with another code than 0', async () => {
    const { last, code, output } = await run(
      `import assert from 'node:assert/strict'; it('a', () => { assert.deepEqual({ x: 1 }, { x: 2 }); }); it('b', () => {});`,
    );
    assert.deepEqual([last, code], ['1 passed, 1 failed', 1]);
    assert.match(output, /-\s+"x": 1[^]*\+\s+"x": 2/);
  });

  it('whose hook fails counts that as a failure', async () => {
    const { last, code } = await run(
      `describe('s', () => { before(() => { throw new Error('no'); }); it('a', () => {}); });`,
    );
    assert.deepEqual([last, code], ['0 passed, 1 failed', 1]);
  });

  it('that ran no test, or could not load its files, is no success', async () => {
    assert.deepEqual(pick(await run(`it('a', () => {});`, '--grep', 'nothing like it')), ['0 passed, 0 failed', true]);
    assert.deepEqual(pick(await run(`throw new Error('does not load');`)), ['0 passed, 1 failed', true]);
  });

  it('that leaves something open fails and names it', async () => {
    const { last, code, output } = await run(
      `import { createServer } from 'node:net';
       describe('s', () => { it('a', (done) => { createServer().listen(0, '127.0.0.1', () => done()); }); });`,
    );
    assert.deepEqual([last, code], ['1 passed, 1 failed', 1]);
    assert.match(output, /left open: 1 TCPServerWrap/);
  });

  describe('that allows second tries', () => {
    /** Tests that fail at first, in a file with this path below the folder. */
    const flaky = async (path: string, count: number, isParallel: boolean) => {
      const file = join(folder, path);
      await mkdir(dirname(file), { recursive: true });
      const tests = Array.from(
        { length: count },
        (_, n) =>
          `it('is late ${String(n)}', () => { if (!seen.has(${String(n)})) { seen.add(${String(n)}); throw new Error('first of ${String(n)}'); } });`,
      );
      await writeFile(
        file,
        `const seen = new Set<number>(); describe('s', () => { ${tests.join('\n')} it('a', () => {}); });`,
      );
      const named = isParallel ? join(folder, '**/*.test.ts') : file;
      return runFile(named, { SLUICE_TEST_SECOND_TRY: 'true' });
    };

    for (const isParallel of [false, true]) {
      it(`passes and lists them with their first errors${isParallel ? ', in lanes too' : ''}`, async () => {
        const { last, code, output } = await flaky('test/integration/x.test.ts', 3, isParallel);
        assert.deepEqual([last, code], ['4 passed, 0 failed', 0]);
        const [, list = ''] = output.split('passed on the second try:\n');
        for (const n of [0, 1, 2]) {
          assert.match(list, new RegExp(`  s is late ${String(n)}\n    Error: first of ${String(n)}\n`));
        }
      });

      it(`fails when more than three needed one${isParallel ? ', in lanes too' : ''}`, async () => {
        const { last, code } = await flaky('test/integration/x.test.ts', 4, isParallel);
        assert.deepEqual([last, code], ['1 passed, 4 failed', 1]);
      });
    }

    it('has none unless the environment enables them', async () => {
      await flaky('test/integration/x.test.ts', 1, false);
      const local = await runFile(join(folder, 'test/integration/x.test.ts'), {});
      assert.deepEqual([local.last, local.code], ['1 passed, 1 failed', 1]);
    });

    it('fails when the second try fails too', async () => {
      const file = join(folder, 'test/integration/x.test.ts');
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, `it('a', () => { throw new Error('always'); });`);
      const { last, code, output } = await runFile(file, { SLUICE_TEST_SECOND_TRY: 'true' });
      assert.deepEqual([last, code], ['0 passed, 1 failed', 1]);
      assert.equal(output.includes('passed on the second try'), false);
    });
  });

  it('with another reporter has no closing line and the exit code of its tests', async () => {
    const { last, code } = await run(`it('a', () => {});`, '--reporter', 'dot');
    assert.deepEqual([last.includes('failed'), code], [false, 0]);
  });

  it('appends its counts to the file that SLUICE_TEST_OUTCOMES names, in place of a closing line', async () => {
    const file = join(folder, 'case.test.ts');
    const outcomes = join(folder, 'outcomes');
    await writeFile(file, `it('a', () => {}); it.skip('b', () => {});`);
    const runs = [
      await runFile(file, { SLUICE_TEST_OUTCOMES: outcomes }),
      await runFile(file, { SLUICE_TEST_OUTCOMES: outcomes }, '--grep', 'nothing like it'),
    ];
    assert.equal(await readFile(outcomes, 'utf8'), '1 0 1\n0 0 0\n');
    for (const { output } of runs) assert.doesNotMatch(output, /passed, /);
  });

  it('prints skips only where there are any', () => {
    assert.equal(closingLine({ passed: 3, failed: 0, skipped: 0 }), '3 passed, 0 failed');
    assert.equal(closingLine({ passed: 3, failed: 1, skipped: 2 }), '3 passed, 1 failed, 2 skipped');
  });
});

function pick({ last, code }: { last: string; code: number }): unknown[] {
  return [last, code !== 0];
}
