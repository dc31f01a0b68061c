import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { postgresAccount } from '../../../src/dev/postgres/account.ts';

describe('the account that PostgreSQL runs under', () => {
  let folder: string;
  const path = process.env['PATH'];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-account-'));
    await chmod(folder, 0o755);
  });

  afterEach(async () => {
    process.env['PATH'] = path;
    await rm(folder, { recursive: true, force: true });
  });

  it('is that of an ordinary user', async function () {
    if (userInfo().uid === 0) this.skip();
    const account = await postgresAccount(join(folder, 'data'), []);
    assert.deepEqual(account.command('initdb', ['-D', folder]), { command: 'initdb', args: ['-D', folder] });
  });

  it('is another user who may enter every folder, where root cannot make a user namespace', async function () {
    if (userInfo().uid !== 0) this.skip();
    const home = join(folder, 'home');
    const data = join(home, 'data');
    await mkdir(home, { mode: 0o700 });
    await writeFile(join(folder, 'id'), '#!/bin/sh\necho 65534\n', { mode: 0o755 });
    const setpriv = (path ?? '')
      .split(':')
      .map((each) => join(each, 'setpriv'))
      .find((each) => existsSync(each));
    if (setpriv === undefined) this.skip();
    await symlink(setpriv, join(folder, 'setpriv'));
    // No unshare here; `true` is for the trial.
    await writeFile(join(folder, 'true'), '#!/bin/sh\n', { mode: 0o755 });
    process.env['PATH'] = folder;
    const account = await postgresAccount(data, [join(home, 'checkout', 'initdb'), data]);
    await mkdir(data, { mode: 0o700 });
    account.own(data);
    // As PostgreSQL does: access(2), then a file of its own.
    const script = `
      require('node:fs').accessSync(process.argv[1]);
      require('node:fs').writeFileSync(process.argv[1] + '/made', String(process.getuid()));`;
    const { command, args } = account.command(process.execPath, ['-e', script, data]);
    await promisify(execFile)(command, args);
    assert.equal(await readFile(join(data, 'made'), 'utf8'), '65534');
    const { uid, gid } = statSync(join(data, 'made'));
    assert.deepEqual([uid, gid], [65534, 65534]);
  });

  it('cannot be had by root without user namespaces and capabilities below a home of root’s own: the message says what helps', async function () {
    if (userInfo().uid !== 0) this.skip();
    const home = join(folder, 'home');
    await mkdir(home, { mode: 0o700 });
    process.env['PATH'] = folder;
    await assert.rejects(postgresAccount(join(home, 'data'), [join(home, 'checkout', 'initdb')]), {
      message:
        'PostgreSQL does not run as root. Here root cannot make a user namespace (unshare --user), and another user cannot ' +
        `enter ${home}. Any one of these helps: work as an ordinary user; work in a folder that others may enter ` +
        `(/opt, /srv), or allow it (chmod o+x ${home}); allow user namespaces`,
    });
  });
});
