import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConnectionUrl } from '../../../../../plugins/database/executor/connection-url.ts';
import { passwordFromFile } from '../../../../../plugins/database/executor/password-file.ts';
import { ConfigError } from '../../../../../src/errors.ts';

let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-files-'));
});
after(() => rm(folder, { recursive: true, force: true }));

const refusal =
  (message: RegExp) =>
  (error: unknown): boolean =>
    error instanceof ConfigError && message.test(error.message) && !error.message.includes('hunter2');

describe('a password file', () => {
  const key = { host: 'db', port: 5432, database: 'plant', user: 'ada' };
  const written = async (content: string, mode = 0o600): Promise<string> => {
    const path = join(folder, 'passwords');
    await rm(path, { force: true });
    await writeFile(path, content, { mode });
    await chmod(path, mode);
    return path;
  };
  const found = async (content: string): Promise<string> => passwordFromFile(await written(content), key);

  it('supplies the password of the first line that matches', async () => {
    const lines = ['# db:5432:plant:ada:no', '', 'db:5432:plant:bob:bob', 'db:5432:*:ada:first', '*:*:*:*:any'];
    assert.equal(await found(lines.join('\n')), 'first');
    assert.equal(await found('db:5432:plant:ada:first\r\n*:*:*:*:any\r\n'), 'first');
    assert.equal(await found('db2:5432:plant:ada:other\n*:*:*:*:any'), 'any');
  });

  it('may contain escaped colons and backslashes', async () => {
    assert.equal(await found(String.raw`*:*:*:ada:a\:b\\c`), String.raw`a:b\c`);
    const named = { ...key, database: String.raw`a:b\c` };
    assert.equal(await passwordFromFile(await written(String.raw`db:*:a\:b\\c:ada:yes`), named), 'yes');
    assert.equal(await passwordFromFile(await written(String.raw`\*:*:*:*:no` + '\n*:*:*:*:yes'), key), 'yes');
  });

  it('is refused without a matching line, if it cannot be read, or if everybody can read it', async () => {
    const path = await written('db:5432:plant:bob:hunter2\nnot a line');
    await assert.rejects(passwordFromFile(path, key), refusal(/passfile ".*" has no line for db:5432:plant:ada$/));
    await assert.rejects(
      passwordFromFile(join(folder, 'none'), key),
      refusal(/passfile ".*none" cannot be read: ENOENT/),
    );
    if (process.platform === 'win32') return;
    const open = await written('*:*:*:*:hunter2', 0o644);
    await assert.rejects(
      passwordFromFile(open, key),
      refusal(/is readable by every user of the machine: run chmod o-rwx/),
    );
    assert.equal(await passwordFromFile(await written('*:*:*:*:shared', 0o640), key), 'shared');
  });
});

describe('a service file', () => {
  const serviceFile = async (...lines: string[]): Promise<string> => {
    const path = join(folder, 'services');
    await writeFile(path, lines.join('\n'));
    return path;
  };

  it('supplies everything that the URL does not set', async () => {
    const path = await serviceFile(
      '# services',
      '[other]',
      'host=nowhere',
      '[plant]',
      'host=one,two',
      'port=1,2',
      'dbname=plant',
      'user=ada',
      'password=hunter2',
      ' sslmode = verify-full',
      'sslrootcert=/ca.pem',
      'passfile=/passwords',
      'connect_timeout=3',
      'user=eve',
      '[last]',
      'host=far',
    );
    const settings = parseConnectionUrl(`jdbc:db://?service=plant&servicefile=${path}`);
    assert.deepEqual(settings.servers, [
      { host: 'one', port: 1 },
      { host: 'two', port: 2 },
    ]);
    assert.deepEqual([settings.database, settings.user, settings.password?.reveal()], ['plant', 'ada', 'hunter2']);
    assert.deepEqual([settings.tls.mode, settings.tls.rootCertificatePath], ['verify-full', '/ca.pem']);
    assert.deepEqual([settings.passwordFile, settings.connectTimeoutMs], ['/passwords', 3000]);
  });

  it('is overridden by the URL and by options', async () => {
    const path = await serviceFile(
      '[plant]',
      'host=one',
      'port=1',
      'dbname=a',
      'user=u',
      'password=p',
      'sslmode=disable',
    );
    const service = `service=plant&servicefile=${path}`;
    const byUrl = parseConnectionUrl(`postgresql://v:q@two:2/b?sslmode=require&${service}`);
    assert.deepEqual(byUrl.servers, [{ host: 'two', port: 2 }]);
    assert.deepEqual(
      [byUrl.database, byUrl.user, byUrl.password?.reveal(), byUrl.tls.mode],
      ['b', 'v', 'q', 'require'],
    );
    const byOptions = parseConnectionUrl(`db:///?${service}`, { user: 'w', database: 'c' });
    assert.deepEqual([byOptions.servers, byOptions.database, byOptions.user], [[{ host: 'one', port: 1 }], 'c', 'w']);
  });

  it('may have one port for all hosts, or none', async () => {
    const path = await serviceFile('[one]', 'host=a,::1', 'port=7', '[two]', 'hostaddr=10.0.0.1');
    const servers = (service: string): unknown =>
      parseConnectionUrl(`db://?service=${service}&servicefile=${path}`, { user: 'u', database: 'd' }).servers;
    assert.deepEqual(servers('one'), [
      { host: 'a', port: 7 },
      { host: '::1', port: 7 },
    ]);
    assert.deepEqual(servers('two'), [{ host: '10.0.0.1', port: 5432 }]);
  });

  it('is refused if it lacks the service, cannot be read, or has an invalid line', async () => {
    const path = await serviceFile('[plant]', 'host=one', 'ldap://hunter2', '[nested]', 'service=plant');
    const parse =
      (service: string, file = path) =>
      (): unknown =>
        parseConnectionUrl(`db://?service=${service}&servicefile=${file}`, { user: 'u', database: 'd' });
    assert.throws(parse('none'), refusal(/service "none" is not in \S+services$/));
    assert.throws(parse('plant'), refusal(/line 3 of the service file ".*" is not a setting of the form key=value/));
    assert.throws(parse('nested'), refusal(/line 5 of the service file/));
    assert.throws(parse('plant', join(folder, 'none')), refusal(/service file ".*none" cannot be read: ENOENT/));
  });

  it('is the one of PGSERVICEFILE if the URL names none', async () => {
    const { PGSERVICEFILE } = process.env;
    process.env['PGSERVICEFILE'] = await serviceFile('[plant]', 'host=one');
    try {
      const { servers } = parseConnectionUrl('db://?service=plant', { user: 'u', database: 'd' });
      assert.deepEqual(servers, [{ host: 'one', port: 5432 }]);
    } finally {
      if (PGSERVICEFILE === undefined) delete process.env['PGSERVICEFILE'];
      else process.env['PGSERVICEFILE'] = PGSERVICEFILE;
    }
  });
});
