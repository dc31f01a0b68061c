import assert from 'node:assert/strict';
import { WorkerProcess } from '../support/worker-process.ts';
import { SinkFixture } from '../integration/sink-fixture.ts';

const AT_MS = 1_700_000_000_000;
const PROPERTIES = { 'offset.flush.interval.ms': '100' };

interface Column {
  readonly name: string;
  readonly type: string;
  readonly length?: number;
}

const TIME: Column = { name: 'ts', type: 'TIMESTAMPTZ' };
const N: Column = { name: 'n', type: 'INT8' };

function message(table: string, columns: readonly Column[], ...rows: object[]): string {
  const tags = [{ name: 'site', type: 'VARCHAR', length: 16, primary: true, nullable: false }];
  const data = rows.map((row, index) => ({ ts: AT_MS + index, site: 'oslo', ...row }));
  return JSON.stringify({ table, columns: [TIME, ...columns], tags, data });
}

describe('tables of a sink', function () {
  let fixture: SinkFixture;

  before(async () => (fixture = await SinkFixture.create('tables', PROPERTIES)));
  after(() => fixture.close());

  const start = (topic: string, more: Record<string, string> = {}, sluice = fixture.sluice) =>
    fixture.start(topic, { 'protocol.type': 'json_db', ...more }, { sluice });

  const columnsOf = async (table: string) =>
    (await fixture.columnsOf(table)).map(([column, type]) => `${column ?? ''} ${type ?? ''}`);

  it('are made and extended once when tasks, connectors and workers come to it at the same moment', async () => {
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
      const names = await Promise.all(topics.map((topic, index) => start(topic, options, workers[index])));
      await Promise.all(names.map((name, index) => fixture.done(name, 16, workers[index])));
      for (const table of tables) {
        assert.deepEqual((await columnsOf(table)).toSorted(), [
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
