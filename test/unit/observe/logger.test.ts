import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { logRelay, relayedLogger } from '../../../src/observe/log-relay.ts';
import { createLogger, serializers } from '../../../src/observe/logger.ts';

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

  it('has the message of a cause once, in the trace (N11)', async () => {
    const lines: string[] = [];
    const logger = relayedLogger((line) => void lines.push(line));
    const relayed: string[] = [];
    const main = pino({ base: null, serializers }, { write: (line: string) => void relayed.push(line) });
    logger.error({ err: new Error('the task ends: it is no JSON', { cause: new Error('it is no JSON') }) }, 'failed');
    for (const line of lines) logRelay(main)(line);
    for (const line of [...lines, ...relayed]) {
      const { err } = JSON.parse(line) as { err: { type: string; message: string; stack: string } };
      assert.deepEqual([err.type, err.message], ['Error', 'the task ends: it is no JSON']);
      assert.match(err.stack, /caused by: Error: it is no JSON/);
    }
    assert.equal(relayed.length, 1);
  });
});
