import assert from 'node:assert/strict';
import { FaultStage } from '../../support/fault-stage.ts';
import { useBrokers } from '../../support/shared-brokers.ts';

describe('a rolling restart of three workers', function () {
  const brokers = useBrokers();

  it('loses and duplicates no row of sinks with exactly-once delivery', async () => {
    await FaultStage.run(brokers(), { workers: 3 }, async (stage) => {
      await stage.startSinks(
        { codec: 'snappy', delivery: 'exactly-once', partitions: 6 },
        { codec: 'zstd', delivery: 'exactly-once' },
      );
      for (const worker of stage.workers.workers) {
        assert.equal(await worker.terminate(), 0);
        stage.addFault();
        await worker.start();
        await stage.workers.settled();
        await stage.untilFlows();
      }
    });
  });
});
