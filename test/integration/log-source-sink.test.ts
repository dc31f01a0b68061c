import assert from 'node:assert/strict';
import type { LocalPostgres } from '../../src/dev/postgres.ts';
import { sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { logicalPostgres, logSourceConfig } from '../support/log-source.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const JSON_WITH_SCHEMAS = {
  'key.converter': 'org.apache.kafka.connect.json.JsonConverter',
  'key.converter.schemas.enable': 'true',
  'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
  'value.converter.schemas.enable': 'true',
};

/** Columns whose values PostgreSQL stores outside of the row, and one that is updated. */
const COLUMNS = `id int primary key, n int, t text not null, j jsonb, b bytea, l text[]`;
const LARGE_TEXT = `(select string_agg(md5(x::text), '') from generate_series(1, 200) x)`;
const LARGE = `${LARGE_TEXT}, jsonb_build_object('x', ${LARGE_TEXT}), convert_to(${LARGE_TEXT}, 'UTF8'), array[${LARGE_TEXT}, 'b']`;

/** Sizes and hashes of the large values, to compare two databases. */
const FINGERPRINT = `select id, n, length(t), md5(t), md5(j::text), md5(b), md5(l::text) from`;

describe('the log source and the sink', function () {
  let server: LocalPostgres;
  let from: TestDatabase;
  let source: SqlClient;
  let target: TestDatabase;
  let copy: SqlClient;
  let kafka: KafkaTraffic;
  let sluice: WorkerProcess;

  before(async () => {
    [{ server, db: from }, target, kafka, sluice] = await Promise.all([
      logicalPostgres(),
      database('copy'),
      KafkaTraffic.shared(),
      WorkerProcess.start({ properties: { 'offset.flush.interval.ms': '100' } }),
    ]);
    source = new SqlClient(from);
    copy = new SqlClient(target);
  });
  after(async () => {
    await sluice.discard();
    await Promise.all([source.close(), copy.close()]);
    await server.discard();
  });

  /** A table with large values, its source and its sink; it has been copied up to now when this returns. */
  async function copied(table: string, more: Readonly<Record<string, string>>): Promise<void> {
    await source.run(
      `create table ${table} (${COLUMNS})`,
      `alter table ${table} alter t set storage external, alter j set storage external, alter b set storage external, alter l set storage external`,
      `insert into ${table} select id, 0, ${LARGE} from generate_series(1, 3) id`,
    );
    await copy.run(`create table ${table} (${COLUMNS})`);
    const config = logSourceConfig(from, {
      'table.include.list': `public.${table}`,
      'skipped.operations': 'none',
      ...JSON_WITH_SCHEMAS,
    });
    const topic = `${config['topic.prefix'] ?? ''}.public.${table}`;
    await kafka.createTopic(topic);
    await sluice.rest.create(uniqueName('log'), config);
    await sluice.rest.create(
      uniqueName('copy'),
      sinkConfig(target, {
        topics: topic,
        'protocol.type': 'struct',
        'table.name.format': table,
        'insert.mode': 'upsert',
        'pk.mode': 'record_key',
        'delete.enabled': 'true',
        ...JSON_WITH_SCHEMAS,
        ...more,
      }),
    );
    await same(table, 3);
  }

  /** Waits until both tables have the same number of rows, and the same contents. */
  async function same(table: string, rows: number): Promise<void> {
    const query = `${FINGERPRINT} ${table} order by id`;
    const expected = await source.rows(query);
    assert.equal(expected.length, rows);
    await until(
      async () => JSON.stringify(await copy.rows(query)) === JSON.stringify(expected),
      `${table} has been copied`,
    );
  }

  const transforms = {
    'events as they are': { 'truncate.enabled': 'true' },
    'ExtractNewRecordState in the sink': {
      transforms: 'row',
      'transforms.row.type': 'io.debezium.transforms.ExtractNewRecordState',
    },
  };
  for (const [title, options] of Object.entries(transforms)) {
    const table = title.startsWith('events') ? 'by_event' : 'by_row';
    it(`keep a table equal, whose large values mostly do not change, with ${title}`, async () => {
      await copied(table, options);
      await source.run(`update ${table} set n = n + 1 where id <= 2`, `update ${table} set n = n + 1 where id = 1`);
      await same(table, 3);
      assert.equal(await copy.number(`select count(*) from ${table} where length(t) = 6400`), 3);
      await source.run(
        `update ${table} set t = 'small', j = '{"y": 1}' where id = 2`,
        `update ${table} set b = '\\x00ff', n = 7 where id = 2`,
        `update ${table} set l = null where id = 3`,
        `delete from ${table} where id = 1`,
        `insert into ${table} select 1, 9, ${LARGE}`,
        `update ${table} set n = 10 where id = 1`,
        `insert into ${table} values (4, 1, '', null, null, null)`,
        `delete from ${table} where id = 3`,
      );
      await same(table, 3);
    });
  }

  it('truncate the copy after the rows before, if that is enabled', async () => {
    await copied('emptied', { 'truncate.enabled': 'true' });
    await source.run(
      `insert into emptied values (8, 1, 'before', null, null, null)`,
      'truncate emptied',
      `insert into emptied values (9, 1, 'after', null, null, null)`,
    );
    await same('emptied', 1);
  });
});
