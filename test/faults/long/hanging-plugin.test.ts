import { fileURLToPath } from 'node:url';
import { FaultStage } from '../../support/fault-stage.ts';
import { keepingLetters } from '../../support/connectors.ts';
import { uniqueName } from '../../support/services.ts';
import { useBrokers } from '../../support/shared-brokers.ts';
import { KafkaTraffic } from '../../support/kafka-traffic.ts';
import { SHORT_SESSION } from '../../support/sink-kills.ts';
import { SqlClient } from '../../support/sql-client.ts';
import { until } from '../../support/until.ts';

const PLUGINS = fileURLToPath(new URL('../../support/stuck-plugins', import.meta.url));
const PARTITIONS = 4;
/** Rows of the plugin's topic. */
const ROWS = 400;

describe('a plugin that hangs during a rebalance', function () {
  const brokers = useBrokers();

  it('is ended with its thread; the other sinks lose and duplicate nothing', async () => {
    const properties = {
      'plugin.path': PLUGINS,
      'task.threads': '2',
      'task.hang.timeout.ms': '3000',
      'task.shutdown.graceful.timeout.ms': '500',
      'session.timeout.ms': '6000',
    };
    await FaultStage.run(brokers(), { workers: 2, properties }, async (stage) => {
      const kafka = new KafkaTraffic(stage.brokers.bootstrapServers);
      const sql = new SqlClient(stage.db);
      const name = uniqueName('stuck');
      const stored = () => sql.number(`select count(*) from "${name}" where value like 'row %'`);
      const send = (values: readonly string[]) =>
        kafka.produce(
          name,
          values.map((value, index) => ({ value, partition: index % PARTITIONS })),
        );
      const rows = (from: number) => Array.from({ length: ROWS }, (_, n) => `row ${String(from + n)}`);
      try {
        await sql.run(`create table "${name}" (value text primary key)`);
        await stage.brokers.createTopic(name, { partitions: PARTITIONS, settings: { 'compression.type': 'lz4' } });
        await stage.workers.rest(0).create(name, {
          'connector.class': 'StuckSink',
          topics: name,
          table: name,
          url: stage.db.url,
          'tasks.max': '2',
          'restart.policy': 'always',
          ...SHORT_SESSION,
          ...keepingLetters(uniqueName('letters')),
          'errors.deadletterqueue.topic.replication.factor': '3',
        });
        await stage.startSinks(
          { codec: 'zstd', delivery: 'exactly-once', config: SHORT_SESSION },
          { codec: 'gzip', delivery: 'at-least-once', config: SHORT_SESSION },
        );
        for (const index of [0, 1]) {
          await send([...rows(index * ROWS), 'loop']);
          const worker = stage.workers.worker(index);
          await until(() => hangs(stage, name), `${name} hangs`);
          await worker.kill();
          stage.addFault();
          await stage.untilFlows();
          await worker.start();
          await until(async () => (await stored()) === (index + 1) * ROWS, `the rows of ${name}`, {
            timeoutMs: 240_000,
          });
        }
        await stage.untilFlows();
      } finally {
        await sql.close();
      }
    });
  });
});

/** Whether a transaction of the plugin is open for longer than its rows take. */
async function hangs({ db }: FaultStage, name: string): Promise<boolean> {
  const sql = new SqlClient(db);
  try {
    const open = `select count(*) from pg_stat_activity where application_name = '${name}' and now() - xact_start > interval '1 s'`;
    return (await sql.number(open)) > 0;
  } finally {
    await sql.close();
  }
}
