import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { CopiedWork } from '../../support/copied-work.ts';
import { DatabaseCopy } from '../../support/database-copy.ts';
import { Draw } from '../../support/random.ts';
import { WorkerProcess } from '../../support/worker-process.ts';

const CHANGES = 100_000;
const KILLS = 8;
const SEED = 20_261_127;

describe('cdc_db from the log to the sink, while both workers are killed', function () {
  it('copies 100,000 changes with statements on tables between them: the databases are equal', async function () {
    this.timeout(1_500_000);
    const [copy, sourceWorker, sinkWorker] = await Promise.all([
      DatabaseCopy.create(),
      WorkerProcess.start({
        properties: { 'exactly.once.source.support': 'enabled', 'offset.flush.interval.ms': '500' },
      }),
      WorkerProcess.start({ properties: { 'offset.flush.interval.ms': '500' } }),
    ]);
    const draw = new Draw(SEED);
    const work = new CopiedWork(copy.from, draw.seed());
    try {
      await work.createTables();
      await copy.start(sourceWorker, sinkWorker);
      let kills = 0;
      const killing = new AbortController();
      const killer = (async () => {
        while (kills < KILLS || work.changes < CHANGES) {
          await delay(draw.between(2000, 6000), undefined, { signal: killing.signal });
          const victims = kills % 3 === 2 ? [sourceWorker, sinkWorker] : [kills % 3 === 0 ? sourceWorker : sinkWorker];
          await Promise.all(victims.map((victim) => victim.kill()));
          await Promise.all(victims.map((victim) => victim.start()));
          kills += 1;
        }
      })();
      try {
        await work.run(CHANGES);
        await killer;
      } finally {
        killing.abort();
        await killer.catch(() => undefined);
      }
      await copy.untilCopied(900_000);
      const rows = await copy.assertEqual();
      assert.ok(work.changes >= CHANGES && work.statements >= 100 && kills >= KILLS && rows > 1000);
    } catch (error) {
      console.error(sourceWorker.logTail(), sinkWorker.logTail());
      throw error;
    } finally {
      await Promise.all([sourceWorker.discard(), sinkWorker.discard()]);
      await copy.close();
    }
  });
});
