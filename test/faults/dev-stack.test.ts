import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { Moved } from '../../src/dev/stack-counts.ts';
import { until } from '../support/until.ts';
import { LocalKafka } from '../../src/dev/kafka.ts';
import { freePort } from '../../src/dev/ports.ts';
import { shellBlocks } from '../support/shell-blocks.ts';
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
      ['changes-source', 'host-metrics-sink', 'process-metrics-sink', 'tables-source'].map((name) => [name, 'RUNNING']),
    );
  });

  it('ends within seconds, and says why, where the broker that is named does not answer', async () => {
    const nobody = `127.0.0.1:${String(await freePort())}`;
    const { child, printed } = dev('--exit-after', '5', '--bootstrap', nobody);
    const [code] = (await once(child, 'close')) as [number];
    assert.equal(code, 3);
    assert.match(
      printed.err,
      new RegExp(`^sluice dev could not start: No Kafka broker answers at ${nobody}: .*ECONNREFUSED`),
    );
  });

  it('reports that the given broker is unreachable, and ends in time all the same, with 1', async () => {
    const kafka = await LocalKafka.start();
    try {
      const { child, printed } = dev(
        ...['--exit-after', '20', '--bootstrap', kafka.bootstrapServers, '--data', join(folder, 'named')],
      );
      const closed = once(child, 'close') as Promise<[number]>;
      const isRunning = () => /Rows into PostgreSQL [1-9].*changes-source RUNNING tasks: RUNNING/.test(printed.out);
      await until(isRunning, 'rows flow, and the task that starts last runs');
      await kafka.kill();
      const [code] = await closed;
      assert.equal(code, 1);
      assert.match(printed.out, /^Kafka is unreachable since \d\d:\d\d:\d\d: .*ECONNREFUSED 127\.0\.0\.1:\d+$/m);
      assert.match(printed.out, /Stopped; the next start continues with this data\n$/);
      assert.equal(printed.err, '');
    } finally {
      await kafka.discard();
    }
  });

  it('says where data can be stored if a folder is not writable, and rejects a time that is not a number', async () => {
    const file = join(folder, 'a file');
    await writeFile(file, '');
    const barred = dev('--data', join(file, 'below'));
    const wrong = dev('--exit-after', 'soon');
    const [[code], [wrongCode]] = (await Promise.all([barred, wrong].map(({ child }) => once(child, 'close')))) as [
      [number],
      [number],
    ];
    assert.equal(code, 3);
    assert.match(barred.printed.err, /its data cannot be kept in .*a file\/below \(ENOTDIR.*--data FOLDER\n$/);
    assert.equal(wrongCode, 1);
    assert.match(wrong.printed.err, /argument 'soon' is invalid/);
  });

  describe('at the next start', () => {
    let running: ReturnType<typeof dev>;

    before(async () => {
      running = dev();
      await until(() => /Rows into PostgreSQL [1-9]/.test(running.printed.out), 'rows flow', { timeoutMs: 60_000 });
    });

    after(async () => {
      if (running.child.exitCode !== null) return;
      running.child.kill('SIGINT');
      await once(running.child, 'close');
    });

    it('prints the addresses', () => {
      for (const expected of [
        /Console +http:.*\/ui$/m,
        /Connect REST +http:/,
        /Database API +https:/,
        /Kafka +127\.0\.0\.1:/,
        /curl -s 'http:/,
        /psql 'postgresql:/,
      ]) {
        assert.match(running.printed.out, expected);
      }
    });

    it("leads through the README's steps, as they are printed, to rows of one's own data and back", async () => {
      const blocks = (await shellBlocks('README.md', 'A first connector')).map(atAddressesOf(running.printed.out));
      const [produce, configure, dryRun, create, rows, more, goBack, remove, ...others] = blocks.map(
        (block) => () => sh(block),
      );
      assert.deepEqual(others, []);

      assert.deepEqual((await produce?.())?.split('\n').slice(0, 3).map(idOf), [1, 2, 3]);
      await configure?.();
      const preview = JSON.parse((await dryRun?.()) ?? '') as {
        records: { rows: { table: string; values: unknown[] }[]; faults: unknown[] }[];
      };
      assert.deepEqual(
        preview.records.map(({ rows: [row], faults }) => [row?.table, row?.values, faults]),
        [['meters', [3, 'Tromsø', 7.1], []]],
      );
      const created = (await create?.())?.trim() ?? '';
      assert.match(created, /"name":"meters-sink","connector":\{"state":"RUNNING"/);
      await until(async () => (await table(rows))?.length === 3, 'the rows are in the table');
      assert.deepEqual(await table(rows), [
        [1, 'Oslo', 4.2],
        [2, 'Bergen', 3.9],
        [3, 'Tromsø', 7.1],
      ]);
      await more?.();
      await until(async () => (await table(rows))?.[2]?.[2] === 0.5, 'the row is changed');
      const back = [...((await goBack?.()) ?? '').matchAll(/\{"kind":"(\w+)"/g)].map(([, kind]) => kind);
      const rowsOfTable = ['snapshot', 'snapshot', 'snapshot'];
      assert.deepEqual(back, [...rowsOfTable, ...rowsOfTable, 'update']);
      assert.equal(await remove?.(), '');
    });

    it('has the updates and deletes of a table in a topic, from the log', async () => {
      const bootstrap = /Kafka +(\S+)/.exec(running.printed.out)?.[1] ?? '';
      const text = await sh(`npx sluice consume dev-sluice-host_peak-struct --bootstrap ${bootstrap} --count 20`);
      const operations = new Set([...text.matchAll(/"op":"(\w)"/g)].map(([, operation]) => operation));
      for (const operation of ['c', 'u', 'd']) assert.ok(operations.has(operation), `${operation}\n${text}`);
    });

    it('shows the topic that a sink waits for', async () => {
      const config = `{"connector.class": "FileStreamSink", "topics": "later", "file": "later.txt"}`;
      await sh(
        atAddressesOf(running.printed.out)(
          `curl -sf -X PUT -H 'Content-Type: application/json' http://127.0.0.1:8083/connectors/waits/config -d '${config}'`,
        ),
      );
      await until(
        () => running.printed.out.includes('waits RUNNING tasks: RUNNING waits for topic later'),
        'it is shown',
      );
    });

    it('has what the page on the dry run needs, which shows the row that does not fit', async () => {
      const blocks = (await shellBlocks('docs/dry-run.md', 'An example')).map(atAddressesOf(running.printed.out));
      assert.equal(blocks.length, 2);
      assert.equal((JSON.parse(await sh(blocks[0] ?? '')) as { code: number }).code, 0);
      const preview = JSON.parse(await sh(blocks[1] ?? '')) as {
        records: { rows: { values: unknown[] }[]; faults: { sqlstate: string; column: string }[] }[];
      };
      assert.deepEqual(
        preview.records.map(({ rows, faults }) => [rows[0]?.values, ...faults.map(({ sqlstate }) => sqlstate)]),
        [[[7, 'pump']], [[8, 'a long name'], '22001']],
      );
    });

    it('reports that its broker is gone, starts it again, and continues', async () => {
      const printed = () => running.printed.out;
      const rows = () => Number(/.*Rows into PostgreSQL ([\d,]+)/s.exec(printed())?.[1]?.replaceAll(',', '') ?? 0);
      const rowsBefore = rows();
      process.kill(await brokerOf(running.child), 'SIGKILL');
      await until(() => printed().includes('Kafka has ended and is started again; its log is '), 'its end is reported');
      await until(() => printed().includes('Kafka runs again\n'), 'it runs again');
      await until(() => rows() > rowsBefore, 'rows move again');
      assert.equal(running.printed.err, '');
    });

    it('stops at Ctrl-C, and continued with its data', async () => {
      const beganMs = Date.now();
      running.child.kill('SIGINT');
      if (running.child.exitCode === null) await once(running.child, 'close');
      assert.equal(running.child.exitCode, 0, running.printed.err);
      assert.ok(Date.now() - beganMs < 25_000, `it took ${String(Date.now() - beganMs)} ms`);
      const log = await readFile(join(folder, '.sluice', 'dev', 'worker.log'), 'utf8');
      const created = log.split('\n').filter((line) => line.includes('Created compacted topic'));
      // The topics are those for configurations, offsets and statuses, and `sluice.storage.topic`.
      assert.equal(created.length, 4, created.join('\n'));
    });
  });

  /** Runs a block of the README in the folder of the stack, with `npx sluice` as the build of this run. */
  async function sh(block: string): Promise<string> {
    const npx = join(folder, 'npx');
    await writeFile(npx, `#!/bin/sh\nshift\nexec '${process.execPath}' '${cli}' "$@"\n`);
    await chmod(npx, 0o755);
    const path = `${folder}${delimiter}${process.env['PATH'] ?? ''}`;
    const { stdout } = await promisify(execFile)('sh', ['-ec', block], {
      cwd: folder,
      env: { ...process.env, PATH: path, BOOTSTRAP_SERVERS: '' },
    });
    return stdout;
  }
});

/** The process of the broker that a stack has started. */
async function brokerOf({ pid = 0 }: ChildProcess): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['--ppid', String(pid), '-o', 'pid=,args=']);
  const line = stdout.split('\n').find((each) => each.includes('kafka.Kafka'));
  assert.ok(line !== undefined, stdout);
  return Number.parseInt(line, 10);
}

/** The README's addresses, as a reader replaces them where others are printed. */
function atAddressesOf(printed: string): (block: string) => string {
  const port = (title: string) => new RegExp(`${title} +\\S*?127\\.0\\.0\\.1:(\\d+)`).exec(printed)?.[1] ?? title;
  const ports: Readonly<Record<string, string>> = {
    '8083': port('Connect REST'),
    '8080': port('Database API'),
    '5432': port('PostgreSQL'),
  };
  return (block) => block.replace(/127\.0\.0\.1:(\d+)/g, (text, usual: string) => `127.0.0.1:${ports[usual] ?? text}`);
}

function idOf(line: string): unknown {
  return (JSON.parse(line) as { id: unknown }).id;
}

/** The rows of an answer; none where the table is still missing. */
async function table(query: (() => Promise<string>) | undefined): Promise<unknown[][] | null> {
  return (JSON.parse((await query?.()) ?? '') as { data: unknown[][] | null }).data;
}
