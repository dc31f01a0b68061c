import assert from 'node:assert/strict';
import { at, cells, ComputedColumnsFixture, MANY, newTable } from '../integration/computed-columns-fixture.ts';

describe('values of columns that the database computes (M3)', function () {
  let fixture: ComputedColumnsFixture;

  before(async () => (fixture = await ComputedColumnsFixture.create()));
  after(() => fixture.close());

  const columns = [
    { name: 'k_timestamp', type: 'TIMESTAMPTZ', length: 64 },
    { name: 'n', type: 'INT8', length: 64 },
    { name: 'twice', type: 'INT8', length: 64 },
    { name: 'id', type: 'INT8', length: 64 },
  ];
  const tags = [{ name: 'site', type: 'VARCHAR', length: 64, isPrimary: true, nullable: false }];
  const formats = {
    json_db: (table: string, i: number) => JSON.stringify({ table, columns, tags, data: [cells(i)] }),
    cdc_db: (table: string, i: number) =>
      JSON.stringify({
        kind: 'insert',
        database: fixture.db.database,
        schema: 'public',
        table,
        columnnames: Object.keys(cells(i)),
        columntypes: ['timestamptz', 'int8', 'int8', 'int8', 'varchar'],
        columnvalues: [Object.values(cells(i))],
      }),
    line_lp: (table: string, i: number) =>
      `${table},site=oslo n=${String(i)}i64,twice=7i64,id=${String(900 + i)}i64 ${String(at(i))}000000`,
    json_tsd: (table: string, i: number) =>
      JSON.stringify(
        ['n', 'twice', 'id'].map((name) => ({
          metric: `${table}.${name}`,
          timestamp: at(i),
          value: name === 'n' ? i : 7,
          tags: { site: 'oslo' },
        })),
      ),
    line_tsd: (table: string, i: number) =>
      ['n', 'twice', 'id'].map((name) => `${table}.${name} ${String(at(i))} ${String(i)} site=oslo`).join('\n'),
  };

  for (const [format, message] of Object.entries(formats)) {
    it(`are ignored in ${format}, by one row and by many, with one notice`, async () => {
      const table = newTable();
      await fixture.createTagged(table);
      const topic = await fixture.topicOf([message(table, 0)]);
      const name = await fixture.start(topic, { 'protocol.type': format });
      await fixture.done(name, 1);
      await fixture.send(
        topic,
        Array.from({ length: MANY }, (_, i) => message(table, i + 1)),
      );
      await fixture.done(name, MANY + 1);
      // Sent again, rows meet the stored ones by the key.
      await fixture.send(topic, [message(table, 0), message(table, 1)]);
      await fixture.done(name, MANY + 3);
      assert.equal(await fixture.sql.number(`select count(*) from ${table}`), MANY + 1);
      await fixture.assertStored(table, MANY + 1);
      const notices = fixture.sluice.log.split('\n').filter((line) => line.includes(`${table} itself`));
      assert.equal(notices.length, 1, notices.join('\n'));
      assert.match(notices[0] ?? '', /The database computes .*twice/);
    });
  }
});
