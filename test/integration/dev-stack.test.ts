import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Moved } from '../../src/dev/stack-counts.ts';
import { until } from '../support/until.ts';
import { builtCli } from '../support/worker-build.ts';

describe('sluice dev', function () {
  let folder = '';
  let cli = '';

  before(async () => {
    cli = await builtCli();
    // PostgreSQL runs as a user of its own where this is root, and must reach its data.
    folder = await mkdtemp(join(tmpdir(), 'sluice-dev-'));
  });

  after(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  function dev(...args: string[]) {
    const child = spawn(process.execPath, [cli, 'dev', ...args], {
      cwd: folder,
      env: { ...process.env, BOOTSTRAP_SERVERS: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const printed = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.err += text));
    return { child, printed };
  }

  it('moves rows both ways, says so in one line of JSON and ends with 0', async () => {
    const { child, printed } = dev('--exit-after', '8', '--json');
    const [code] = (await once(child, 'close')) as [number];
    assert.equal(code, 0, printed.err);
    assert.equal(printed.out.trim().split('\n').length, 1);
    const moved = JSON.parse(printed.out) as Moved;
    assert.ok(moved.sinkRows > 0, 'rows went in');
    assert.ok(moved.sourceRecords > 0, 'records came out');
    assert.deepEqual(
      moved.connectors.map(({ name, state }) => [name, state]).sort(),
      ['host-metrics-sink', 'process-metrics-sink', 'tables-source'].map((name) => [name, 'RUNNING']),
    );
  });

  it('goes on with its data at the next start, tells where things are, and stops at Ctrl-C', async () => {
    const { child, printed } = dev();
    await until(() => /Rows into PostgreSQL [1-9]/.test(printed.out), 'rows flow', { timeoutMs: 60_000 });
    for (const expected of [
      /Connect REST +http:/,
      /Database API +https:/,
      /Kafka +127\.0\.0\.1:/,
      /curl -s 'http:/,
      /psql 'postgresql:/,
    ]) {
      assert.match(printed.out, expected);
    }
    const beganMs = Date.now();
    child.kill('SIGINT');
    const [code] = (await once(child, 'close')) as [number];
    assert.equal(code, 0, printed.err);
    assert.ok(Date.now() - beganMs < 25_000, `it took ${String(Date.now() - beganMs)} ms`);
    const log = await readFile(join(folder, '.sluice', 'dev', 'worker.log'), 'utf8');
    assert.equal(log.split('\n').filter((line) => line.includes('created the compacted topic')).length, 3);
  });
});
