import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { classArchive } from '../../../src/dev/kafka/class-archive.ts';

describe('the class archive of the local Kafka', () => {
  it('is done without when it cannot be made, and its folder cannot be removed (N10)', async () => {
    const cacheFolder = await mkdtemp(join(tmpdir(), 'sluice-archive-'));
    const told: string[] = [];
    try {
      const archive = await classArchive({
        java: { program: join(cacheFolder, 'no-java'), version: '17' },
        classPath: 'none',
        cacheFolder,
        onProgress: (message) => told.push(message),
        remove: () => Promise.reject(new Error('ENOTEMPTY: directory not empty')),
      });
      assert.equal(archive, undefined);
      assert.match(told[1] ?? '', /^no class archive: /);
      assert.match(told[2] ?? '', /kafka-classes\.unfinished-\w+ could not be removed: ENOTEMPTY/);
    } finally {
      await rm(cacheFolder, { recursive: true, force: true });
    }
  });
});
