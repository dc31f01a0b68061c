import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findJava } from '../../../src/dev/kafka/java.ts';

describe('the choice of a Java', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-java-'));
    for (const version of [11, 17, 21, 25]) {
      const bin = join(folder, String(version), 'bin');
      await mkdir(bin, { recursive: true });
      await writeFile(join(bin, 'java'), `#!/bin/sh\necho 'openjdk version "${String(version)}.0.1"' >&2\n`);
      await chmod(join(bin, 'java'), 0o755);
    }
  });

  after(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  const home = (version: number): string => join(folder, String(version));

  async function chosen(environment: NodeJS.ProcessEnv, lowestMajor?: number): Promise<string | undefined> {
    const java = await findJava({ PATH: join(folder, 'none'), ...environment }, lowestMajor);
    return /"(\d+)/.exec(java?.version ?? '')?.[1];
  }

  it('prefers JAVA_HOME, then the path, then the homes of versions', async () => {
    const path = join(home(17), 'bin');
    assert.equal(await chosen({ JAVA_HOME: home(21), PATH: path, JAVA_25_HOME: home(25) }), '21');
    assert.equal(await chosen({ PATH: path, JAVA_25_HOME: home(25) }), '17');
    assert.equal(await chosen({ JAVA_25_HOME: home(25) }), '25');
    assert.equal(await chosen({ JAVA_HOME_21_X64: home(21) }), '21');
  });

  it('passes over those that are too old or are not there', async () => {
    const older = { JAVA_HOME: home(11), PATH: join(home(17), 'bin'), JAVA_8_HOME: join(folder, 'gone') };
    assert.equal(await chosen(older), '17');
    assert.equal(await chosen({ ...older, JAVA_HOME_21_X64: home(21) }, 21), '21');
    assert.equal(await chosen(older, 21), undefined);
  });
});
