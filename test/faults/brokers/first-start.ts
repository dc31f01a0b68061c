import assert from 'node:assert/strict';
import { useBrokers } from '../../support/shared-brokers.ts';
import { WorkerCluster } from '../../support/worker-cluster.ts';

/** As Connect's defaults. */
const REPLICATED = {
  'config.storage.replication.factor': '3',
  'offset.storage.replication.factor': '3',
  'offset.storage.partitions': '25',
  'status.storage.replication.factor': '3',
  'status.storage.partitions': '5',
};

describe('the first start on a cluster of three brokers', function () {
  const brokers = useBrokers();

  it('L8: three workers started at once, with their topics missing, become one group', async () => {
    const { bootstrapServers } = brokers();
    const workers = await WorkerCluster.startAtOnce(3, { 'bootstrap.servers': bootstrapServers, ...REPLICATED });
    try {
      await workers.settled();
      const leaders = workers.workers.map(async ({ rest }) => {
        const { body } = await rest.get<{ leader_url: string }>('/cluster');
        return body.leader_url;
      });
      assert.equal(new Set(await Promise.all(leaders)).size, 1);
      for (const { log, url } of workers.workers) assert.doesNotMatch(log, /"level":"(error|fatal)"/, url);
    } finally {
      await workers.discard();
    }
  });
});
