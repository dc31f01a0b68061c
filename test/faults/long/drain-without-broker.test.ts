import { drain } from '../../../src/cli/messages/drain.ts';
import { BROKER_IDS } from '../../support/broker-cluster.ts';
import { FaultStage } from '../../support/fault-stage.ts';
import { useBrokers } from '../../support/shared-brokers.ts';
import { SHORT_SESSION } from '../../support/sink-kills.ts';

describe('workers that are drained while a broker is down', function () {
  const brokers = useBrokers();

  it('hand over their tasks without losing a row, and exactly-once sinks duplicate none', async () => {
    await FaultStage.run(brokers(), { workers: 3 }, async (stage) => {
      const [once, plain] = await stage.startSinks(
        { codec: 'lz4', delivery: 'exactly-once', config: SHORT_SESSION },
        { codec: 'gzip', delivery: 'at-least-once', config: SHORT_SESSION },
      );
      const sinks = [once, plain].filter((sink) => sink !== undefined);
      for (const [index, broker] of BROKER_IDS.entries()) {
        await stage.brokers.kill(broker);
        stage.addFault();
        const others = [0, 1, 2].filter((each) => each !== index);
        const options = {
          url: stage.workers.worker(others[0] ?? 0).url,
          worker: new URL(stage.workers.worker(index).url).host,
          noWait: false,
        };
        await drain({ ...options, undo: false }, () => undefined);
        for (const sink of sinks) await stage.workers.untilRuns(sink.name, 3, others);
        await stage.untilFlows();
        await drain({ ...options, undo: true }, () => undefined);
        await stage.brokers.start(broker);
        await stage.brokers.untilInSync([...sinks.map(({ name }) => name), '__consumer_offsets']);
      }
      await stage.untilFlows();
    });
  });
});
