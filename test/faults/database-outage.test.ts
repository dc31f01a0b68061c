import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { stopDatabase } from '../support/database-outage.ts';
import { WorkerProcess } from '../support/worker-process.ts';

describe('a database that is stopped and started again', function () {
  let worker: WorkerProcess;

  before(async () => {
    worker = await WorkerProcess.start();
  });
  after(() => worker.discard());

  it('loses no row of a sink or a source, and fails no task', async () => {
    const tookMs = await stopDatabase({ worker, kafka: await KafkaTraffic.shared(), outageMs: 3_000 });
    process.stdout.write(`      all rows there ${String(Math.round(tookMs))} ms after it was started\n`);
  });
});
