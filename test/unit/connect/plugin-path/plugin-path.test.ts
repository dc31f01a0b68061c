import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPluginPath } from '../../../../src/connect/plugins/path/plugin-path.ts';
import { scanPluginPath } from '../../../../src/connect/plugins/path/scan.ts';
import { PluginRegistry } from '../../../../src/connect/plugins/plugin-registry.ts';
import type { SinkRecord } from '../../../../src/index.ts';
import { silentLogger } from '../../../../src/observe/logger.ts';

const EXAMPLE = fileURLToPath(new URL('../../../support/example-plugins', import.meta.url));
const STAMP = 'com.example.Stamp';
let root = '';

/** A copy of the example outside of the project, of another version if one is given. */
async function install(folder: string, version = '1.0.0', mark = 'first'): Promise<string> {
  const target = join(root, folder);
  await cp(EXAMPLE, target, { recursive: true });
  const manifest = JSON.parse(await readFile(join(EXAMPLE, 'package.json'), 'utf8')) as object;
  await writeFile(join(target, 'package.json'), JSON.stringify({ ...manifest, version }));
  await writeFile(join(target, 'mark.js'), `export const MARK = '${mark}';`);
  return target;
}

async function manifest(folder: string, content: string): Promise<string> {
  const target = join(root, folder);
  await mkdir(target, { recursive: true });
  await writeFile(join(target, 'package.json'), content);
  return target;
}

async function registryOf(...folders: string[]): Promise<PluginRegistry> {
  return new PluginRegistry([], (await openPluginPath(folders, silentLogger)).plugins);
}

function record(value: string): SinkRecord {
  return { value } as unknown as SinkRecord;
}

describe('plugin.path', () => {
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'sluice-plugins-'));
  });

  afterEach(async () => {
    await rm(root, { recursive: true });
  });

  it('leads to a package, to a folder of packages, and to where packages were installed, each found once', async () => {
    await install('single');
    await install('folder/a', '1.1.0');
    await install('folder/@scope/b', '1.2.0');
    await install('installed/node_modules/c', '1.3.0');
    await install('installed/node_modules/@scope/d', '1.4.0');
    await install('folder/prefix/node_modules/e', '1.5.0');
    await mkdir(join(root, 'folder', 'java-plugin'));
    await writeFile(join(root, 'folder', 'java-plugin', 'x.jar'), '');
    await symlink(join(root, 'single'), join(root, 'folder', 'linked'));
    const { packages, warnings } = await scanPluginPath(
      ['single', 'folder', 'installed'].map((each) => join(root, each)),
    );
    assert.deepEqual(packages.map(({ version }) => version).sort(), [
      '1.0.0',
      '1.1.0',
      '1.2.0',
      '1.3.0',
      '1.4.0',
      '1.5.0',
    ]);
    assert.deepEqual(warnings, []);
  });

  it('passes a broken package over with one warning that says why, and finds the others', async () => {
    const noJson = await manifest('broken/no-json', '{');
    const noType = await manifest(
      'broken/no-type',
      '{"version":"1","sluice":{"plugins":[{"type":"sinc","class":"x"}]}}',
    );
    const outside = await manifest(
      'broken/outside',
      '{"version":"1","sluice":{"plugins":[{"type":"sink","class":"x","module":"../other/x.js"}]}}',
    );
    await manifest('broken/of-others', '{"name":"other","version":"1.0.0"}');
    await install('broken/good');
    const { packages, warnings } = await scanPluginPath([join(root, 'broken'), join(root, 'nowhere')]);
    assert.equal(packages.length, 1);
    assert.equal(warnings.length, 4);
    assert.ok(warnings[0]?.startsWith(`The plugin package in ${noJson} is ignored: its package.json is not JSON: `));
    assert.ok(warnings[1]?.startsWith(`The plugin package in ${noType} is ignored: its package.json is invalid: `));
    assert.equal(
      warnings[2],
      `The plugin package in ${outside} is ignored: its module ../other/x.js is outside of the package`,
    );
    assert.match(warnings[3] ?? '', /nowhere is ignored: there is no such folder and no such package$/);
  });

  it('loads a plugin when a configuration names it, with the API of this process', async () => {
    const folder = await install('lazy');
    // A module that fails when it is loaded: nobody asks for it.
    await writeFile(join(folder, 'lines-sink.js'), 'throw new Error("not asked for")');
    const registry = await registryOf(folder);
    const before = registry.find('converter', 'com.example.UpperCaseConverter');
    assert.throws(() => before.create({}, false), /has not been loaded/);
    await registry.prepare({ 'value.converter': 'UpperCase' });
    const converter = registry.find('converter', 'UpperCaseConverter').create({}, false);
    assert.equal(converter.toConnectData('t', Buffer.from('text')).value, 'TEXT');
    // Mocha's copy of the classes is another one; that they are the worker's is promised by the integration test.
    assert.throws(() => converter.fromConnectData('t', null, 7), { name: 'DataError' });
  });

  it('gives plugins every export of the package', async () => {
    const project = new URL('../../../../', import.meta.url);
    const { exports } = JSON.parse(await readFile(new URL('package.json', project), 'utf8')) as {
      exports: Readonly<Record<string, { readonly default: string }>>;
    };
    for (const [path, { default: built }] of Object.entries(exports)) {
      const folder = await install(path === '.' ? 'main' : path);
      const name = `sluice${path.slice(1)}`;
      const code = `import * as api from '${name}';
        const apply = (record) => ({ ...record, value: Object.keys(api) });
        export const stamp = { type: 'transformation', className: '${STAMP}', options: {}, create: () => ({ apply }) };`;
      await writeFile(join(folder, 'stamp.js'), code);
      const registry = await registryOf(folder);
      await registry.prepare({ transforms: 'a', ...named('a') });
      const found = registry.find('transformation', 'Stamp').create({}).apply(record('x'))?.value;
      const source = new URL(built.replace('./dist/', '').replace('.js', '.ts'), project);
      assert.deepEqual(found, Object.keys((await import(source.href)) as object), name);
    }
    assert.deepEqual(Object.keys(exports), ['.', './database']);
  });

  it('keeps two versions of a class side by side, each with its own modules', async () => {
    const registry = await registryOf(
      await install('one'),
      await install('ten', '10.0.0', 'tenth'),
      await install('two', '2.5.0', 'second'),
    );
    await registry.prepare({ transforms: 'a,b,c', ...named('a'), ...named('b', '[1.0,2.0)'), ...named('c', '2.5.0') });
    const stamped = (wanted?: string) =>
      registry.find('transformation', 'Stamp', wanted).create({}).apply(record('x'))?.value;
    assert.equal(stamped(), 'x/tenth');
    assert.equal(stamped('[1.0,2.0)'), 'x/first');
    assert.equal(stamped('2.5.0'), 'x/second');
    assert.throws(() => registry.find('transformation', 'Stamp', '[3.0,4.0)'), {
      message: `Plugin ${STAMP} not found that matches the version range [3.0,4.0), available versions: [1.0.0, 2.5.0, 10.0.0]`,
    });
    assert.deepEqual(
      registry.all().flatMap(({ className, version }) => (className === STAMP ? [version] : [])),
      ['1.0.0', '2.5.0', '10.0.0'],
    );
  });

  it('reports why a plugin cannot be used: once in the log, and to every caller', async () => {
    const folder = await install('failing');
    await writeFile(join(folder, 'stamp.js'), 'import "a-package-that-there-is-not";');
    await writeFile(join(folder, 'upper-case-converter.js'), 'export const nothing = 1;');
    const warnings: string[] = [];
    const logger = silentLogger.child({});
    logger.warn = (_: object, text?: string) => void warnings.push(text ?? '');
    const registry = new PluginRegistry([], (await openPluginPath([folder], logger)).plugins);
    const stamp = { transforms: 'a', ...named('a') };
    const problem = new RegExp(`^Plugin ${STAMP} 1.0.0 in ${folder} cannot be used: Cannot find package 'a-package`);
    await assert.rejects(registry.prepare(stamp), { message: problem });
    await assert.rejects(registry.prepare(stamp), { message: problem });
    await assert.rejects(registry.prepare({ 'key.converter': 'UpperCase' }), /exports no converter with the className/);
    assert.equal(warnings.length, 2);
  });

  it('yields to built-in plugins, and to earlier entries', async () => {
    const first = await install('first');
    const second = await install('second');
    const registry = await registryOf(first, second);
    assert.deepEqual(
      registry.hidden.map(({ location }) => location),
      [second, second, second],
    );
  });

  it('offers config providers', async () => {
    const path = await openPluginPath([await install('providers')], silentLogger);
    const plugin = await path.configProvider('com.example.CountingConfigProvider');
    const provider = plugin?.create({}, { logger: silentLogger });
    assert.deepEqual([...((await provider?.get('', new Set(['k'])))?.values ?? [])], [['k', 'k-1']]);
    assert.equal(await path.configProvider('com.example.Other'), undefined);
  });
});

function named(alias: string, version?: string): Record<string, string> {
  const prefix = `transforms.${alias}.`;
  return { [`${prefix}type`]: STAMP, ...(version === undefined ? {} : { [`${prefix}plugin.version`]: version }) };
}
