import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { postgresBinaries } from '../../../src/dev/postgres/binaries.ts';

describe('the choice of a local PostgreSQL', () => {
  let home: string;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'sluice-postgres-home-'));
    await mkdir(join(home, 'bin'));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  const program = async (name: string, output: string): Promise<string> => {
    const path = join(home, 'bin', name);
    await writeFile(path, `#!/bin/sh\necho '${output}'\n`, { mode: 0o755 });
    return path;
  };

  it('falls on the one of POSTGRES_HOME, with its version', async () => {
    const initdb = await program('initdb', '');
    const postgres = await program('postgres', 'postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)');
    assert.deepEqual(await postgresBinaries({ POSTGRES_HOME: home }), { initdb, postgres, majorVersion: 15 });
  });

  it('is refused where POSTGRES_HOME has no PostgreSQL', async () => {
    await assert.rejects(postgresBinaries({ POSTGRES_HOME: home }), {
      message: `POSTGRES_HOME=${home} has no bin/initdb`,
    });
    await program('initdb', '');
    const postgres = await program('postgres', 'something else');
    await assert.rejects(postgresBinaries({ POSTGRES_HOME: home }), {
      message: `${postgres} is no PostgreSQL: it reports something else`,
    });
  });
});
