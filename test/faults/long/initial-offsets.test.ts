import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { FaultStage } from '../../support/fault-stage.ts';
import { useBrokers } from '../../support/shared-brokers.ts';
import { CODECS } from '../../support/sink-load.ts';
import { randomFrom } from '../../support/random.ts';
import { until } from '../../support/until.ts';

const ROWS = 9_000;
const FIRST = 3_600;
const KILLS = 4;
/** The longest time between the request and the kill. */
const KILL_MS = 600;

describe('a connector that is created with initial_offsets while its worker is killed', function () {
  const brokers = useBrokers();

  it('begins there, or does not exist; no earlier row is stored, and no later one is lost', async () => {
    const random = randomFrom(26);
    await FaultStage.run(brokers(), { workers: 1 }, async (stage) => {
      const worker = stage.workers.worker(0);
      const deliveries = ['exactly-once', 'at-least-once'] as const;
      for (let kill = 0; kill < KILLS; kill++) {
        const sink = await stage.prepare({
          codec: CODECS[kill % 4] ?? 'gzip',
          delivery: deliveries[kill % 2] ?? 'exactly-once',
        });
        await sink.produce(ROWS);
        const body = sink.creationFrom(FIRST);
        const creating = worker.rest.post('/connectors', body).catch(() => undefined);
        await delay(random() * KILL_MS);
        await worker.kill();
        stage.addFault();
        await creating;
        await worker.start();
        await until(async () => {
          const { status } = await worker.rest.post('/connectors', body);
          return (
            status === 201 || (status === 409 && (await worker.rest.get(`/connectors/${sink.name}`)).status === 200)
          );
        }, `${sink.name} exists`);
        await sink.untilStored();
        const early = await sink.sql.number(`select count(*) from ${sink.table} where id < ${String(FIRST)}`);
        assert.equal(early, 0, `rows before the initial offsets of ${sink.name}`);
      }
    });
  });
});
