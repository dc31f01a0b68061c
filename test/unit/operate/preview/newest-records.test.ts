import assert from 'node:assert/strict';
import type { TaskClients } from '../../../../src/connect/tasks/task-clients.ts';
import { newestRecords } from '../../../../src/operate/preview/newest-records.ts';
import { LogConsumer, logAdmin, logRecord, type PartitionLogs } from '../../../support/log-consumer.ts';

const LIMIT_MS = 1000;

/** Clients with a worker's `consumer.auto.offset.reset`. The topic had these ends at the time of the call. */
function clientsOf(logs: PartitionLogs, ends: readonly number[], reset: string) {
  const clients: Pick<TaskClients, 'admin' | 'sinkConsumer'> = {
    admin: () => logAdmin(ends),
    sinkConsumer: (_id, _config, fixed = {}) =>
      Promise.resolve(new LogConsumer(logs, undefined, fixed['auto.offset.reset'] ?? reset).asConsumer),
  };
  return clients;
}

const newest = async (count: number, clients: Pick<TaskClients, 'admin' | 'sinkConsumer'>) => {
  const records = await newestRecords('t', count, { name: 'c', config: {} }, clients, LIMIT_MS);
  return records.map(({ partition, offset }) => `${String(partition)}@${String(offset)}`);
};

describe('the newest records of a topic', () => {
  it('are found if retention has deleted older ones, whatever auto.offset.reset is', async () => {
    const logs = [[logRecord(0, 8, 10), logRecord(0, 9, 20)]];
    for (const reset of ['earliest', 'latest', 'none'])
      assert.deepEqual(await newest(5, clientsOf(logs, [10], reset)), ['0@8', '0@9'], reset);
  });

  it('do not include records that were written after the call', async () => {
    const logs = [
      [logRecord(0, 0, 10), logRecord(0, 1, 30), logRecord(0, 2, 40), logRecord(0, 3, 50)],
      [logRecord(1, 0, 20), logRecord(1, 1, 60)],
    ];
    assert.deepEqual(await newest(3, clientsOf(logs, [2, 1], 'latest')), ['0@0', '1@0', '0@1']);
  });
});
