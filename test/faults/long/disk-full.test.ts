import { setTimeout as delay } from 'node:timers/promises';
import type { LocalPostgres } from '../../../src/dev/postgres.ts';
import { FaultStage } from '../../support/fault-stage.ts';
import { onServer, ownPostgres } from '../../support/services.ts';
import { useBrokers } from '../../support/shared-brokers.ts';
import { SmallDisk } from '../../support/small-disk.ts';
import type { SinkLoadOptions } from '../../support/sink-load.ts';
import { SqlClient } from '../../support/sql-client.ts';
import { until } from '../../support/until.ts';

const SINKS: readonly SinkLoadOptions[] = [
  { codec: 'gzip', delivery: 'exactly-once' },
  { codec: 'snappy', delivery: 'at-least-once' },
];
/** How long each outage is, at the least. */
const OUTAGE_MS = 5_000;

describe('a database whose disk is full under sinks', function () {
  const brokers = useBrokers();
  let postgres: LocalPostgres;

  beforeEach(async () => {
    postgres = await ownPostgres();
  });
  afterEach(() => postgres.discard());

  it('loses no row, and duplicates none of an exactly-once sink', async function () {
    const disk = await SmallDisk.mount(postgres.dataDir);
    if (typeof disk === 'string') {
      process.stdout.write(`    (${disk})\n`);
      this.skip();
    }
    const sql = new SqlClient(onServer(postgres, 'postgres'));
    try {
      await sql.run(`create tablespace small location '${disk.folder}'`);
      await sql.run('alter database postgres set default_tablespace = small');
      await sql.close();
      await FaultStage.run(brokers(), { workers: 2, db: onServer(postgres, 'postgres') }, async (stage) => {
        await stage.startSinks(...SINKS);
        for (let round = 0; round < 2; round++) {
          await disk.fill();
          stage.addFault();
          await until(() => logs(stage, 'No space left on device'), 'a sink meets the full disk');
          await delay(OUTAGE_MS);
          await disk.free();
          await stage.untilFlows();
        }
      });
    } finally {
      await sql.close();
      await postgres.stop();
      await disk.unmount();
    }
  });
});

function logs({ workers }: FaultStage, text: string): boolean {
  return workers.workers.some(({ log }) => log.includes(text));
}
