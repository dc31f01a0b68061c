import { setTimeout as delay } from 'node:timers/promises';
import { FaultStage } from '../../support/fault-stage.ts';
import { useBrokers } from '../../support/shared-brokers.ts';
import { SHORT_SESSION } from '../../support/sink-kills.ts';

/** Longer than the sessions of the worker and of its tasks. */
const SUSPENDED_MS = 15_000;

describe('a worker that is suspended for longer than its session', function () {
  const brokers = useBrokers();

  it('leaves its tasks to another one, and adds and loses nothing when it wakes up', async () => {
    const properties = { 'session.timeout.ms': '6000', 'heartbeat.interval.ms': '1000' };
    await FaultStage.run(brokers(), { workers: 2, properties }, async (stage) => {
      const sinks = await stage.startSinks(
        { codec: 'gzip', delivery: 'exactly-once', config: SHORT_SESSION },
        { codec: 'zstd', delivery: 'at-least-once', config: SHORT_SESSION },
      );
      for (const sleeper of [0, 1]) {
        const other = 1 - sleeper;
        const pid = stage.workers.worker(sleeper).pid ?? 0;
        process.kill(pid, 'SIGSTOP');
        stage.addFault();
        try {
          const over = delay(SUSPENDED_MS);
          for (const sink of sinks) await stage.workers.untilRuns(sink.name, 3, [other]);
          await stage.untilFlows();
          await over;
        } finally {
          process.kill(pid, 'SIGCONT');
        }
        await stage.workers.settled();
        await stage.untilFlows();
      }
    });
  });
});
