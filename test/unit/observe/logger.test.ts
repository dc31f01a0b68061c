import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../../src/observe/logger.ts';

describe('a log for people', () => {
  it('has one line for each event, with the task in front and no other fields', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-log-'));
    try {
      const file = join(folder, 'worker.log');
      const logger = await createLogger({ level: 'info', format: 'text', file });
      const fields = { thread: 2, connector: 'orders', task: 0, logger: 'org.apache.kafka.connect' };
      logger.child(fields).info('something happened');
      logger.info('the worker started');
      const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
      assert.deepEqual(
        lines.map((line) => line.replace(/^.*?INFO[^:]*: /, '')),
        ['[orders-0] something happened', 'the worker started'],
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
