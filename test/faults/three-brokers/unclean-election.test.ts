import assert from 'node:assert/strict';
import { FaultStage } from '../../support/fault-stage.ts';
import { JavaMembers } from '../../support/java-members.ts';
import { useBrokers } from '../../support/shared-brokers.ts';
import { CODECS } from '../../support/sink-load.ts';
import { until } from '../../support/until.ts';

/** Rows that both replicas have, that only the first leader has, and that the leader elected uncleanly takes. */
const [COMMON, CUT, LATER] = [4_050, 600, 6_000];

describe('an unclean election of compressed topics', function () {
  const brokers = useBrokers();

  it('loses none of the new leader’s records in sinks, as in Java consumers', async function () {
    await FaultStage.run(brokers(), { workers: 1 }, async (stage) => {
      const { brokers: cluster } = stage;
      const unclean = { 'unclean.leader.election.enable': 'true', 'min.insync.replicas': '1' };
      const sinks = await Promise.all(
        CODECS.map((codec, index) => {
          const delivery = index % 2 === 0 ? 'exactly-once' : 'at-least-once';
          return stage.prepare({ codec, delivery, partitions: 1, topic: { replicas: [[1, 2]], settings: unclean } });
        }),
      );
      const groups = Object.fromEntries(sinks.map(({ name }) => [name, {}]));
      const java = await JavaMembers.start(cluster.bootstrapServers, groups);
      if (typeof java === 'string') this.skip();
      const everywhere = async (): Promise<void> => {
        for (const sink of sinks) {
          await sink.untilStored();
          const seen = () => new Set(java.values(sink.name)).size === sink.produced;
          await until(seen, `Java has the ${String(sink.produced)} rows of ${sink.name}`);
        }
      };
      const produce = async (rows: number): Promise<void> => {
        for (const sink of sinks) await sink.produce(rows);
      };
      try {
        for (const sink of sinks) await sink.create(stage.workers.rest(0));
        await produce(COMMON);
        await everywhere();
        await cluster.stop(2);
        await produce(CUT);
        await everywhere();
        await cluster.kill(1);
        stage.addFault();
        await cluster.start(2);
        for (const sink of sinks) {
          await until(async () => (await cluster.leaderOf(sink.name)) === 2, `broker 2 leads ${sink.name}`);
          await sink.cut(CUT);
        }
        await produce(LATER);
        await everywhere();
        await cluster.start(1);
        assert.deepEqual(java.errors, []);
      } finally {
        await java.end();
      }
    });
  });
});
