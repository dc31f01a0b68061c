import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { builtCli } from '../support/worker-build.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const EXAMPLE = fileURLToPath(new URL('../support/example-plugins', import.meta.url));

interface Validation {
  readonly configs: readonly {
    readonly definition: { readonly default_value: string | null } | null;
    readonly value: { readonly name: string; readonly recommended_values: string[]; readonly errors: string[] };
  }[];
}

/** Packages of others, in a folder apart from the project: two versions of the example, and one that is broken. */
describe('plugins outside of the project', function () {
  let folder = '';
  let worker: WorkerProcess;
  let traffic: KafkaTraffic;

  async function install(name: string, version: string, mark: string): Promise<string> {
    const target = join(folder, 'plugins', name);
    await cp(EXAMPLE, target, { recursive: true });
    const manifest = JSON.parse(await readFile(join(EXAMPLE, 'package.json'), 'utf8')) as object;
    await writeFile(join(target, 'package.json'), JSON.stringify({ ...manifest, version }));
    await writeFile(join(target, 'mark.js'), `export const MARK = '${mark}';`);
    return target;
  }

  /** A package with two transformations that say where they run, of which one needs the main thread. */
  async function installWhereabouts(): Promise<void> {
    const target = join(folder, 'plugins', 'whereabouts');
    const plugins = ['InThread', 'InMainThread'].map((name) => ({
      type: 'transformation',
      class: `com.acme.${name}`,
      module: './whereabouts.js',
    }));
    await mkdir(target, { recursive: true });
    const manifest = { name: 'whereabouts', version: '1.0.0', type: 'module', sluice: { plugins } };
    await writeFile(join(target, 'package.json'), JSON.stringify(manifest));
    await writeFile(
      join(target, 'whereabouts.js'),
      `import { isMainThread } from 'node:worker_threads';
      const create = () => ({ apply: (record) => ({ ...record, value: isMainThread ? 'main' : 'thread' }) });
      const plugin = { type: 'transformation', options: {}, create };
      export const inThread = { ...plugin, className: 'com.acme.InThread' };
      export const inMainThread = { ...plugin, className: 'com.acme.InMainThread', needsMainThread: true };`,
    );
  }

  /** Sends texts through a sink of its own to a file; gives its name. */
  async function sink(texts: readonly (string | null)[], more: Readonly<Record<string, string>>): Promise<string> {
    const name = uniqueName('lines');
    await traffic.createTopic(name);
    await traffic.produce(
      name,
      texts.map((value) => ({ value })),
    );
    await worker.rest.create(name, {
      'connector.class': 'LinesSink',
      topics: name,
      file: join(folder, name),
      'value.converter': 'com.example.UpperCaseConverter',
      ...more,
    });
    return name;
  }

  async function lines(name: string, count: number): Promise<string[]> {
    const read = async () => (await readFile(join(folder, name), 'utf8')).split('\n').slice(0, -1);
    return until(async () => ((await read()).length >= count ? read() : undefined), `${name} has its lines`);
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-plugin-path-'));
    await install('example-1', '1.0.0', 'first');
    await install('example-2', '2.0.0', 'second');
    const broken = await install('broken', '9.0.0', 'never');
    await writeFile(join(broken, 'stamp.js'), "import 'a-package-that-there-is-not';");
    const garbled = await install('garbled', '1.0.0', 'never');
    await writeFile(join(garbled, 'package.json'), '{');
    await installWhereabouts();
    traffic = await KafkaTraffic.shared();
    worker = await WorkerProcess.start({
      properties: {
        'plugin.path': join(folder, 'plugins'),
        'config.providers': 'vault',
        'config.providers.vault.class': 'com.example.CountingConfigProvider',
      },
    });
  });

  after(async () => {
    await worker.discard();
    await rm(folder, { recursive: true });
  });

  it('run as connector, converter and transformation of one connector, with values of their config provider', async () => {
    const name = await sink(['one', 'two'], {
      'line.prefix': '${vault:prefix}:',
      'connector.plugin.version': '[1.0,9.0)',
      transforms: 's',
      'transforms.s.type': 'com.example.Stamp',
      'transforms.s.plugin.version': '[1.0,9.0)',
    });
    const written = await lines(name, 2);
    const plain = written.map((line) => line.replace(/^prefix-\d+:/, ''));
    assert.deepEqual(plain, ['ONE/second', 'TWO/second']);
    assert.notEqual(written[0], plain[0]);
    const status = await worker.rest.untilState(name, 'RUNNING', 1);
    assert.equal((status.connector as { version?: string }).version, '2.0.0');
  });

  it('run in an older version beside a newer one', async () => {
    const name = await sink(['one'], {
      'connector.plugin.version': '1.0.0',
      'value.converter.plugin.version': '1.0.0',
      transforms: 's',
      'transforms.s.type': 'com.example.Stamp',
      'transforms.s.plugin.version': '1.0.0',
      'transforms.s.separator': '-',
    });
    assert.deepEqual(await lines(name, 1), ['ONE-first']);
  });

  it('preview what they would do, without their secrets, in the version that is asked for', async () => {
    const config = {
      ...{ 'connector.class': 'LinesSink', file: join(folder, 'previewed'), 'line.prefix': 'the-secret-prefix: ' },
      ...{ 'value.converter': 'com.example.UpperCaseConverter', transforms: 's' },
      ...{ 'transforms.s.type': 'com.example.Stamp', 'transforms.s.plugin.version': '1.0.0' },
    };
    const { status, body } = await worker.rest.post<{
      name: string;
      records: { lines?: string[]; faults: { stage: string; message: string }[] }[];
    }>('/connector-plugins/LinesSink/preview', { config, messages: [{ value: 'one' }, { value: null }] });
    assert.equal(status, 200, JSON.stringify(body));
    const [one, none] = body.records;
    assert.deepEqual(one?.lines, ['[hidden]ONE/first']);
    assert.deepEqual(none?.faults, [{ stage: 'TASK_PUT', message: 'a record without a value is no line' }]);
    await assert.rejects(readFile(join(folder, 'previewed')), { code: 'ENOENT' });
  });

  it('run in the main thread if they need it, while tasks without them run in threads', async () => {
    const where = async (type: string): Promise<string[]> => {
      const name = await sink(['one'], { transforms: 'where', 'transforms.where.type': type });
      const [line = ''] = await lines(name, 1);
      const { threads } = (await worker.rest.get<{ threads: { thread: string; tasks: string[] }[] }>('/cluster')).body;
      const thread = threads.find(({ tasks }) => tasks.includes(`${name}-0`))?.thread ?? '';
      return [line, thread === 'main' ? thread : 'thread'];
    };
    assert.deepEqual(await where('com.acme.InMainThread'), ['main', 'main']);
    assert.deepEqual(await where('com.acme.InThread'), ['thread', 'thread']);
  });

  it("throw the worker's own errors", async () => {
    const name = await sink([null], {});
    const trace = await until(
      async () => (await worker.rest.status(name)).tasks.find(({ state }) => state === 'FAILED')?.trace,
      'the task has failed',
    );
    assert.match(trace, /org\.apache\.kafka\.connect\.errors\.DataException: a record without a value is no line/);
  });

  it('are listed with all of their versions, which validation recommends', async () => {
    const listed = (await worker.rest.get<{ class: string; version: string }[]>('/connector-plugins')).body;
    const versions = listed.flatMap((each) => (each.class.startsWith('com.example.') ? [each.version] : []));
    assert.deepEqual(versions, ['1.0.0', '2.0.0', '9.0.0']);
    const definitions = await worker.rest.get<{ name: string }[]>('/connector-plugins/LinesSink/config?version=1.0.0');
    assert.deepEqual(
      definitions.body.slice(0, 2).map(({ name }) => name),
      ['file', 'line.prefix'],
    );
    const { body } = await worker.rest.put<Validation>('/connector-plugins/LinesSink/config/validate', {
      name: 'x',
      topics: 'x',
      'connector.class': 'com.example.LinesSinkConnector',
      'connector.plugin.version': '[3.0,4.0)',
    });
    const version = body.configs.find(({ value }) => value.name === 'connector.plugin.version');
    assert.equal(version?.definition?.default_value, '9.0.0');
    assert.deepEqual(version.value.recommended_values, ['1.0.0', '2.0.0', '9.0.0']);
    assert.deepEqual(version.value.errors, [
      'Plugin com.example.LinesSinkConnector not found that matches the version range [3.0,4.0), available versions: [1.0.0, 2.0.0, 9.0.0]',
    ]);
    assert.ok(body.configs.some(({ value }) => value.name === 'file' && value.errors.length === 1));
  });

  it('that are broken are one warning with the reason, and the request that asks for them gets an error', async () => {
    const config = {
      'connector.class': 'LinesSink',
      topics: 'x',
      file: join(folder, 'x'),
      transforms: 's',
      'transforms.s.type': 'com.example.Stamp',
    };
    for (const name of ['first', 'again']) {
      const { status, body } = await worker.rest.put<{ message: string }>(`/connectors/${name}/config`, config);
      assert.equal(status, 400);
      assert.match(body.message, /^Plugin com\.example\.Stamp 9\.0\.0 in .*broken cannot be used: Cannot find package/);
    }
    assert.equal((await worker.rest.get('/health')).status, 200);
    const warnings = worker.log.split('\n').filter((line) => line.includes('"level":"warn"') && line.includes(folder));
    assert.equal(warnings.filter((line) => line.includes('cannot be used')).length, 1);
    assert.equal(warnings.filter((line) => line.includes('its package.json is not JSON')).length, 1);
  });

  it('are listed by `sluice plugins list`, with what is wrong with them', async () => {
    const args = [await builtCli(), 'plugins', 'list', '--plugin-path', join(folder, 'plugins')];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/\s{2,}/));
    assert.ok(rows.some(([type, name]) => type === 'sink' && name === 'com.db.kafka.connect.sink.DbSinkConnector'));
    assert.deepEqual(
      rows.filter(([, name]) => name === 'com.example.Stamp').map(([type, , version]) => [type, version]),
      ['1.0.0', '2.0.0', '9.0.0'].map((version) => ['transformation', version]),
    );
    const warnings = stdout.split('\n').filter((line) => line.startsWith('warning: '));
    assert.equal(warnings.length, 2);
    assert.match(warnings.join('\n'), /Plugin com\.example\.Stamp 9\.0\.0 in .*broken cannot be used/);
  });
});
