import assert from 'node:assert/strict';
import { WorkerProcess } from '../support/worker-process.ts';
import { message, N, SinkTablesFixture } from '../integration/sink-tables-fixture.ts';

const PROPERTIES = { 'offset.flush.interval.ms': '100' };

describe('tables of a sink', function () {
  let fixture: SinkTablesFixture;

  before(async () => (fixture = await SinkTablesFixture.create()));
  after(() => fixture.close());

  it('are created and extended once by concurrent tasks, connectors and workers', async () => {
    const other = await WorkerProcess.start({ properties: PROPERTIES });
    try {
      const tables = Array.from({ length: 8 }, (_, index) => `shared${String(index)}`);
      const topics = await Promise.all(
        ['a', 'b', 'c'].map((column) =>
          fixture.topicOf(
            tables.flatMap((table) =>
              [0, 1].map((side) =>
                message(table, [N, { name: column, type: 'INT4' }], { ts: side, n: 1, [column]: side, site: column }),
              ),
            ),
            2,
          ),
        ),
      );
      const options = { 'auto.evolve': 'add', 'tasks.max': '2' };
      const workers = [fixture.sluice, fixture.sluice, other];
      const names = await Promise.all(topics.map((topic, index) => fixture.startJson(topic, options, workers[index])));
      await Promise.all(names.map((name, index) => fixture.done(name, 16, workers[index])));
      for (const table of tables) {
        assert.deepEqual((await fixture.typesOf(table)).toSorted(), [
          'a integer',
          'b integer',
          'c integer',
          'n bigint',
          'site character varying(16)',
          'ts timestamp with time zone',
        ]);
        assert.equal(await fixture.sql.number(`select count(*) from ${table}`), 6);
      }
    } finally {
      await other.discard();
    }
  });
});
