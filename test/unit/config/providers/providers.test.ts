import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConfigProvider } from '../../../../src/config/providers/config-provider.ts';
import { directoryConfigProvider } from '../../../../src/config/providers/directory-config-provider.ts';
import { envVarConfigProvider } from '../../../../src/config/providers/env-var-config-provider.ts';
import { fileConfigProvider } from '../../../../src/config/providers/file-config-provider.ts';
import { silentLogger } from '../../../../src/observe/logger.ts';

const context = { logger: silentLogger };
let folder = '';

async function given(provider: ConfigProvider, path: string, ...keys: string[]): Promise<Record<string, string>> {
  return Object.fromEntries((await provider.get(path, new Set(keys))).values);
}

describe('config providers', () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-providers-'));
    await mkdir(join(folder, 'secrets'));
    await mkdir(join(folder, 'secrets-of-others'));
    await writeFile(join(folder, 'secrets', 'db.properties'), 'user=me\npassword = s3cret\\u00e9 \nempty=\n');
    await writeFile(join(folder, 'secrets-of-others', 'db.properties'), 'password=theirs');
    await writeFile(join(folder, 'secrets', 'token'), 'abc\n');
    await symlink(join(folder, 'secrets', 'token'), join(folder, 'secrets', 'linked'));
  });

  after(async () => {
    await rm(folder, { recursive: true });
  });

  it('file: returns properties of a file, and nothing for unknown keys', async () => {
    const file = fileConfigProvider.create({}, context);
    const path = join(folder, 'secrets', 'db.properties');
    assert.deepEqual(await given(file, path, 'password', 'empty', 'other'), { password: 's3creté ', empty: '' });
    assert.deepEqual(await given(file, '', 'password'), {});
  });

  it("file: rejects an unreadable or malformed file with Java's message, without its content", async () => {
    const file = fileConfigProvider.create({}, context);
    const missing = join(folder, 'missing');
    await assert.rejects(given(file, missing, 'a'), { message: `Could not read properties from file ${missing}` });
    const malformed = join(folder, 'malformed');
    await writeFile(malformed, '{"password": s3cret}');
    await assert.rejects(given(file, malformed, 'password'), (error: Error) => {
      assert.equal(error.message, `Could not read properties from file ${malformed}`);
      assert.equal(error.cause, undefined);
      return true;
    });
  });

  it('file: rejects a file of more than 1 MiB', async () => {
    const large = join(folder, 'large');
    await writeFile(large, 'a=b\n'.repeat(300_000));
    await assert.rejects(given(fileConfigProvider.create({}, context), large, 'a'), /Could not read properties/);
    if (process.platform !== 'linux') return;
    await assert.rejects(given(fileConfigProvider.create({}, context), '/dev/zero', 'a'), /Could not read properties/);
  });

  it('allowed.paths: allows only paths under these, regardless of their notation', async () => {
    const own = fileConfigProvider.create({ 'allowed.paths': `${folder}/secrets/, ${folder}/large` }, context);
    const path = join(folder, 'secrets', 'db.properties');
    assert.deepEqual(await given(own, path, 'user'), { user: 'me' });
    assert.deepEqual(await given(own, `${folder}/secrets-of-others/../secrets/db.properties`, 'user'), { user: 'me' });
    assert.deepEqual(await given(own, join(folder, 'secrets-of-others', 'db.properties'), 'password'), {});
    assert.deepEqual(await given(own, `${folder}/secrets/../secrets-of-others/db.properties`, 'password'), {});
    assert.throws(() => fileConfigProvider.create({ 'allowed.paths': 'relative' }, context), {
      message: 'Path relative is not absolute',
    });
    assert.throws(() => fileConfigProvider.create({ 'allowed.paths': '/does-not-exist' }, context), {
      message: 'Path /does-not-exist does not exist',
    });
  });

  it('directory: returns the content of its files, including links, and nothing outside of it', async () => {
    const directory = directoryConfigProvider.create({ 'allowed.paths': folder }, context);
    const path = join(folder, 'secrets');
    assert.deepEqual(await given(directory, path, 'token', 'linked', 'nothing'), { token: 'abc\n', linked: 'abc\n' });
    assert.deepEqual(await given(directory, path, '../secrets-of-others/db.properties'), {});
    assert.deepEqual(await given(directory, join(folder, 'missing'), 'token'), {});
    assert.deepEqual(await given(directory, '/tmp', 'token'), {});
  });

  it('env: returns variables whose whole name matches the pattern, and rejects a path', async () => {
    process.env['SLUICE_TEST_SECRET'] = 'from the environment';
    const all = envVarConfigProvider.create({}, context);
    const some = envVarConfigProvider.create({ 'allowlist.pattern': 'SLUICE_.*' }, context);
    const none = envVarConfigProvider.create({ 'allowlist.pattern': 'SLUICE_' }, context);
    assert.deepEqual(await given(all, '', 'SLUICE_TEST_SECRET', 'SLUICE_TEST_MISSING'), {
      SLUICE_TEST_SECRET: 'from the environment',
    });
    assert.deepEqual(await given(some, '', 'SLUICE_TEST_SECRET', 'PATH'), {
      SLUICE_TEST_SECRET: 'from the environment',
    });
    assert.deepEqual(await given(none, '', 'SLUICE_TEST_SECRET'), {});
    await assert.rejects(given(all, '/path', 'PATH'), {
      message: "Path is not supported for EnvVarConfigProvider, invalid value '/path'",
    });
  });

  it('ttl.ms: limits the validity of file values', async () => {
    const path = join(folder, 'secrets', 'db.properties');
    const brief = fileConfigProvider.create({ 'ttl.ms': '1500' }, context);
    assert.equal((await brief.get(path, new Set(['user']))).ttlMs, 1500);
    assert.equal((await fileConfigProvider.create({}, context).get(path, new Set(['user']))).ttlMs, undefined);
    assert.throws(() => fileConfigProvider.create({ 'ttl.ms': 'soon' }, context), /ttl\.ms/);
  });
});
