import assert from 'node:assert/strict';
import { ClusterLoad, REPLICATED_WORKER } from '../../support/cluster-load.ts';
import { database } from '../../support/services.ts';
import { useBrokers } from '../../support/shared-brokers.ts';
import { WorkerCluster } from '../../support/worker-cluster.ts';

describe('brokers killed under load', function () {
  const brokers = useBrokers();

  it('cost no row and double none: a leader that coordinates transactions, then the coordinator of a group', async () => {
    const cluster = brokers();
    const common = { 'bootstrap.servers': cluster.bootstrapServers, ...REPLICATED_WORKER };
    const starts = [
      WorkerCluster.start(1, { ...common, 'exactly.once.source.support': 'enabled' }),
      WorkerCluster.start(1, common),
    ] as const;
    let load: ClusterLoad | undefined;
    try {
      load = new ClusterLoad(cluster, await database('brokers'), ...(await Promise.all(starts)));
      await load.start();
      const leader = await cluster.transactionCoordinatorOf(load.transactionalId);
      assert.equal(await cluster.leaderOf(load.onceSink, leader - 1), leader);
      await cluster.kill(leader);
      await load.untilFlows();
      await cluster.start(leader);
      await cluster.untilInSync([
        ...load.sinkTopics,
        ...load.sourceTopics,
        '__consumer_offsets',
        '__transaction_state',
      ]);
      await cluster.kill(await cluster.coordinatorOf(`connect-${load.onceSink}`));
      await load.untilFlows();
      for (const { where, lost, doubled } of await load.finish()) {
        assert.deepEqual(lost, [], `lost in ${where}`);
        // At least once.
        if (!where.includes(load.plainSource)) assert.deepEqual(doubled, [], `doubled in ${where}`);
      }
    } finally {
      await load?.close();
      for (const start of await Promise.allSettled(starts)) {
        if (start.status === 'fulfilled') await start.value.discard();
      }
    }
  });
});
