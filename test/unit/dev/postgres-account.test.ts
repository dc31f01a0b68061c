import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
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

  it('cannot be had by root without user namespaces below a home of root’s own: the message says what helps', async function () {
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
