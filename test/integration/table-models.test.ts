import assert from 'node:assert/strict';
import { Difference } from '../soak/differential/record-lines.ts';
import { ModelStage } from '../soak/model/model-stage.ts';
import { sinkRound } from '../soak/model/sink-round.ts';
import { SOURCE_WORKERS, sourceRound } from '../soak/model/source-round.ts';
import { TableModel } from '../soak/model/table-model.ts';
import { requireEqualTable } from '../soak/model/table-reader.ts';
import { SqlClient } from '../support/sql-client.ts';

/** One seed for each kind of format, of a few steps each; the soak has all. */
const SINK_SEEDS = { struct: 23, json_db: 58, line_lp: 48, cdc_db: 36 };
/** One seed for each way to read. */
const SOURCE_SEEDS = { notified: 14, incrementing: 20, recent: 5, bulk: 43 };

/** The short form of `npm run soak -- sink-model` and `source-model`. */
describe('a model of the documents', function () {
  let stage: ModelStage;

  before(async () => (stage = await ModelStage.start(...SOURCE_WORKERS)));
  after(() => stage.end());

  it('has the rows, types and dead letters of sinks after random records, restarts and rebalances', async () => {
    const counts = await Promise.all(Object.values(SINK_SEEDS).map((seed) => sinkRound(seed, stage)));
    assert.ok(counts.every((records) => records > 0));
  });

  it('has the records of sources after random changes of tables, restarts and other numbers of tasks', async () => {
    const counts = await Promise.all(Object.values(SOURCE_SEEDS).map((seed) => sourceRound(seed, stage)));
    assert.ok(counts.every((records) => records > 0));
  });

  it('reports a row, a value, a type and a key that differ from those of the table', async () => {
    const sql = new SqlClient(stage.database('unmarked'));
    await sql.run(
      'create table changed (id bigint primary key, n integer)',
      'insert into changed values (1, 5), (2, null)',
    );
    const difference = async (type: string, key: string, n: string): Promise<string> => {
      const model = new TableModel('changed');
      model.create(
        [
          ['id', 'bigint'],
          ['n', type],
        ],
        [key],
      );
      for (const [id, value] of [
        ['1', n],
        ['2', null],
      ] as const) {
        model.store(
          new Map([
            ['id', id],
            ['n', value],
          ]),
          'insert',
        );
      }
      try {
        await requireEqualTable(sql, model);
        return '';
      } catch (error) {
        assert.ok(error instanceof Difference);
        return error.message;
      }
    };
    assert.equal(await difference('integer', 'id', '5'), '');
    assert.match(await difference('integer', 'id', '6'), /not in the model: 1 x .*"n":"5".*missing: 1 x .*"n":"6"/);
    assert.match(await difference('bigint', 'id', '5'), /columns of table changed: .*"n integer".*"n bigint"/);
    assert.match(
      await difference('integer', 'n', '5'),
      /key of table changed: there is \["id"\], the model has \["n"\]/,
    );
    await sql.run('insert into changed values (3, 7)');
    assert.match(await difference('integer', 'id', '5'), /3 rows, the model has 2; not in the model: 1 x .*"id":"3"/);
    await sql.close();
  });
});
