import { logicalPostgres } from '../../support/log-source.ts';
import { killLogSource } from '../../support/log-source-kills.ts';
import { WorkerProcess } from '../../support/worker-process.ts';

const KILLS = 4;

describe('the log source, while its worker and its server are killed', function () {
  for (const once of [true, false]) {
    it(once ? 'sends every row once, with exactly once' : 'loses no row, without exactly once', async () => {
      const properties = {
        'exactly.once.source.support': once ? 'enabled' : 'disabled',
        'offset.flush.interval.ms': '500',
      };
      const [worker, { server, db }] = await Promise.all([WorkerProcess.start({ properties }), logicalPostgres()]);
      try {
        await killLogSource({ worker, server, db, kills: KILLS, once });
      } finally {
        await Promise.all([worker.discard(), server.discard()]);
      }
    });
  }
});
