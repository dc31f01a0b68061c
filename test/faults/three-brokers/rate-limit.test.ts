import assert from 'node:assert/strict';
import { FaultStage } from '../../support/fault-stage.ts';
import { useBrokers } from '../../support/shared-brokers.ts';
import { SHORT_SESSION } from '../../support/sink-kills.ts';

const LIMIT = 600;
/** Records that a task may read ahead of its limit: one second's worth and one poll of at most 500 records. */
const ADVANCE = LIMIT + 3 * 500;

describe('rate limits while brokers fail over', function () {
  const brokers = useBrokers();

  it('hold, and no row is lost, or duplicated by an exactly-once sink', async () => {
    await FaultStage.run(brokers(), { workers: 2 }, async (stage) => {
      const config = {
        ...SHORT_SESSION,
        'rate.limit.records': String(LIMIT),
        'consumer.override.max.poll.records': '500',
      };
      const startedAt = performance.now();
      const sinks = await stage.startSinks(
        { codec: 'zstd', delivery: 'exactly-once', config },
        { codec: 'snappy', delivery: 'at-least-once', config },
      );
      const topics = [...sinks.map(({ name }) => name), '__consumer_offsets'];
      const once = sinks[0];
      assert.ok(once !== undefined);
      for (const find of [
        () => stage.brokers.leaderOf(once.name),
        () => stage.brokers.coordinatorOf(`connect-${once.name}`),
      ]) {
        const broker = await find();
        await stage.brokers.kill(broker);
        stage.addFault();
        await stage.brokers.leaderOf(once.name);
        const before = await once.sql.number(`select max(id) from ${once.table}`);
        await stage.untilStores(before + LIMIT);
        await stage.brokers.start(broker);
        await stage.brokers.untilInSync(topics);
        const rows = await once.sql.number(`select count(*) from ${once.table}`);
        const allowed = LIMIT * ((performance.now() - startedAt) / 1000) + ADVANCE;
        assert.ok(rows <= allowed, `${String(rows)} rows are there, ${allowed.toFixed(0)} are allowed`);
      }
      for (const { name } of sinks) {
        const patch = { 'rate.limit.records': null };
        assert.equal((await stage.workers.rest(0).request('PATCH', `/connectors/${name}/config`, patch)).status, 200);
      }
    });
  });
});
