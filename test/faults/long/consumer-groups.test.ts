import { setTimeout as delay } from 'node:timers/promises';
import { FaultStage } from '../../support/fault-stage.ts';
import { uniqueName } from '../../support/services.ts';
import { useBrokers } from '../../support/shared-brokers.ts';
import { SHORT_SESSION } from '../../support/sink-kills.ts';
import { randomFrom } from '../../support/random.ts';

const KILLS = 4;

const MEMBERS = {
  'that the broker divides (KIP-848)': () => ({ 'consumer.override.group.protocol': 'consumer' }),
  'that the broker divides, of static members': () => ({
    'consumer.override.group.protocol': 'consumer',
    'consumer.override.group.instance.id': uniqueName('static'),
  }),
  'of static members': () => ({ ...SHORT_SESSION, 'consumer.override.group.instance.id': uniqueName('static') }),
} as const;

describe('consumer groups whose workers are killed', function () {
  const brokers = useBrokers();

  it('lose no row, and exactly-once sinks duplicate none: divided by the broker (KIP-848), static members, and both', async () => {
    const random = randomFrom(848);
    await FaultStage.run(brokers(), { workers: 2, properties: { 'session.timeout.ms': '6000' } }, async (stage) => {
      const kinds = Object.values(MEMBERS);
      await stage.startSinks(
        ...kinds.map((config) => ({ codec: 'gzip', delivery: 'exactly-once', config: config() }) as const),
        ...kinds.map((config) => ({ codec: 'lz4', delivery: 'at-least-once', config: config() }) as const),
      );
      for (let kill = 0; kill < KILLS; kill++) {
        const worker = stage.workers.worker(kill);
        await delay(random() * 1000);
        await worker.kill();
        stage.addFault();
        // Within the session of its members, or after it.
        await delay(kill < 2 ? 0 : 7000);
        await worker.start();
        await stage.untilFlows();
      }
    });
  });
});
