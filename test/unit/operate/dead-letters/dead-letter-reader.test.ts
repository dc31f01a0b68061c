import assert from 'node:assert/strict';
import { DeadLetterReader } from '../../../../src/operate/dead-letters/dead-letter-reader.ts';
import { LogConsumer, logAdmin, logRecord } from '../../../support/log-consumer.ts';

describe('a reader of dead letters', () => {
  it('reads all existing records if retention has deleted the first ones, whatever auto.offset.reset is', async () => {
    const logs = [[logRecord(0, 8, 10), logRecord(0, 9, 20)]];
    const reader = new DeadLetterReader({
      admin: () => logAdmin([10]),
      sinkConsumer: (_id, _config, fixed = {}) =>
        Promise.resolve(new LogConsumer(logs, undefined, fixed['auto.offset.reset'] ?? 'latest').asConsumer),
    });
    const offsets: number[] = [];
    const config = { 'errors.deadletterqueue.topic.name': 't' };
    const { scanned, hasMore } = await reader.readDeadLetters(
      { connector: 'c', config, selection: {} },
      ({ offset }) => {
        offsets.push(offset);
        return true;
      },
      new AbortController().signal,
    );
    assert.deepEqual([offsets, scanned, hasMore], [[8, 9], 2, false]);
  });
});
