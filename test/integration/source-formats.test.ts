import assert from 'node:assert/strict';
import { sinkConfig, sourceConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

/** Columns of all types, and what is in them in row `i`. */
const DATA: readonly (readonly [type: string, value: string])[] = [
  ['int2', '(i * 131 - 32768)::int2'],
  ['int4', '(i * 8589934::int8 - 2147483648)::int4'],
  [
    'int8',
    `case i when 0 then '-9223372036854775808' when 1 then '9223372036854775807' else i * 18014398509481983 end`,
  ],
  ['float4', 'i / 7.0::float4'],
  ['float8', '(i - 250) / 7.0::float8 * 10::float8 ^ (i - 250)'],
  ['numeric(30,10)', '12345678901234567890.0123456789 - i'],
  ['bool', 'i % 3 = 0'],
  ['varchar(64)', `'a "b", c=d \\ ' || i || ' Zürich 漢字 😀'`],
  ['text', `case when i % 5 = 0 then '' else repeat('x', i) end`],
  // M12: line breaks, and what would begin another line.
  ['text', `E'first "x",y=\\\\\nmeters v=1 ' || i || E'\r\n#\n\n'`],
  ['char(3)', `lpad((i % 1000)::text, 3, 'a')`],
  ['timestamp(3)', `timestamp '1969-12-31 23:59:59.999' + i * interval '86399.999 s'`],
  ['date', `date '2026-01-01' + i`],
  ['time', `time '00:00:01.000001' + i * interval '1 s'`],
  ['interval', `i * interval '1 day 00:00:01.5'`],
  ['uuid', `md5(i::text)::uuid`],
  ['bytea', `decode(md5(i::text), 'hex')`],
  ['jsonb', `jsonb_build_object('i', i, 'list', jsonb_build_array(1.10, null, 'q"q'))`],
];
const NUMBERS = DATA.filter(([type]) => /^(int\d|float|numeric)/.test(type));

describe('the records of a source are read back by a sink', function () {
  let db: TestDatabase;
  let sql: SqlClient;
  let kafka: KafkaTraffic;
  let sluice: WorkerProcess;

  before(async () => {
    [db, kafka, sluice] = await Promise.all([database('formats'), KafkaTraffic.shared(), WorkerProcess.start()]);
    sql = new SqlClient(db);
  });
  after(async () => {
    await sluice.discard();
    await sql.close();
  });

  const create = (table: string, data: readonly (readonly [string, string])[]) => [
    `create table ${table} (k_timestamp timestamptz(3) not null, ${data.map(([type], n) => `c${String(n)} ${type}`).join(', ')}, site varchar(64) not null, rack varchar(64), primary key (k_timestamp, site))`,
    `comment on column ${table}.site is 'sluice:primary-tag'`,
    `comment on column ${table}.rack is 'sluice:tag'`,
  ];

  for (const [format, data, more] of [
    ['json_db', DATA, {}],
    ['json_db', DATA, { 'out.format.rows.per.record': '40', 'timestamp.precision': 'us' }],
    ['json_tsd', DATA, {}],
    ['line_tsd', NUMBERS, {}],
    ['line_tsd', NUMBERS, { 'out.format.rows.per.record': '7', 'timestamp.precision': 's' }],
    ['line_lp', DATA, {}],
    ['line_lp', DATA, { 'out.format.rows.per.record': '100', 'timestamp.precision': 'ms' }],
  ] as const) {
    it(`into an equal table (${format} ${JSON.stringify(more)})`, async () => {
      const table = uniqueName('t').replaceAll('-', '_');
      const name = uniqueName('formats');
      const isLine = format.startsWith('line');
      // A value is NULL now and then, but never all of a row, which points and lines could not say.
      const values = data.map(([, value], n) =>
        n === 0 ? value : `case when (i + ${String(n)}) % 11 <> 0 then ${value} end`,
      );
      await sql.run(
        ...create(table, data),
        `insert into ${table} select timestamptz '2026-01-01 00:00:00Z' + i * interval '1 s', ${values.join(', ')}, ${isLine ? `'s,=' || i % 4` : `'s ' || i % 4`}, ${isLine ? 'null' : `nullif(i % 3, 0)::text`} from generate_series(0, 499) i`,
      );
      await sluice.rest.create(
        name,
        sourceConfig(db, { 'topic.prefix': name, 'table.include': table, 'out.format': format, ...more }),
      );
      const topic = `${name}-${db.database}-${table}-${format}`;
      const lastSecond = String(Date.UTC(2026, 0, 1, 0, 8, 19) / 1000);
      await kafka.read(topic, (records) => records.at(-1)?.value?.includes(lastSecond) ?? false);
      await sluice.rest.delete(`/connectors/${name}`);
      await sql.run(`alter table ${table} rename to ${table}_original`, ...create(table, data));
      const precision = 'timestamp.precision' in more ? { 'timestamp.precision': more['timestamp.precision'] } : {};
      await sluice.rest.create(
        `${name}-back`,
        sinkConfig(db, { topics: topic, 'protocol.type': format, ...precision }),
      );
      const all = ['k_timestamp', ...data.map((_, n) => `c${String(n)}::text`), 'site', 'rack'].join(', ');
      const except = (left: string, right: string) => `(select ${all} from ${left} except select ${all} from ${right})`;
      const differing = `${except(table, `${table}_original`)} union all ${except(`${table}_original`, table)} limit 2`;
      await until(
        async () => {
          const rows = await sql.rows(differing);
          const { tasks } = await sluice.rest.status(`${name}-back`);
          if (rows.length > 0) throw new Error(`${tasks[0]?.trace ?? ''}${JSON.stringify(rows[0])}`);
          return true;
        },
        'the tables are equal',
        { everyMs: 200 },
      );
      assert.equal(await sql.number(`select count(*) from ${table}`), 500);
      await sluice.rest.delete(`/connectors/${name}-back`);
    });
  }

  it("into an equal table of 1,600 columns, PostgreSQL's maximum (M6)", async () => {
    const table = uniqueName('wide').replaceAll('-', '_');
    const columns = Array.from({ length: 1_599 }, (_, n) => `c${String(n)} int4`).join(', ');
    const create = `create table ${table} (k_timestamp timestamptz(3) primary key, ${columns})`;
    const values = Array.from({ length: 1_599 }, (_, n) => `i * ${String(n)}`).join(', ');
    await sql.run(
      create,
      `insert into ${table} select timestamptz '2026-01-01 00:00:00Z' + i * interval '1 s', ${values} from generate_series(1, 3) i`,
    );
    const name = uniqueName('wide');
    await sluice.rest.create(name, sourceConfig(db, { 'topic.prefix': name, 'table.include': table }));
    const topic = `${name}-${db.database}-${table}-json_db`;
    await kafka.read(topic, (records) => records.length === 3);
    await sluice.rest.delete(`/connectors/${name}`);
    await sql.run(`alter table ${table} rename to ${table}_original`, create);
    await sluice.rest.create(`${name}-back`, sinkConfig(db, { topics: topic, 'protocol.type': 'json_db' }));
    await until(
      async () => {
        const { tasks } = await sluice.rest.status(`${name}-back`);
        if (tasks[0]?.trace !== undefined) throw new Error(tasks[0].trace);
        return (await sql.number(`select count(*) from ${table}`)) === 3;
      },
      'all rows have returned',
      { everyMs: 200 },
    );
    // As texts: PostgreSQL takes long to plan a comparison of that many columns.
    const rows = (from: string) => sql.rows(`select t::text from ${from} t order by k_timestamp`);
    assert.deepEqual(await rows(table), await rows(`${table}_original`));
    await sluice.rest.delete(`/connectors/${name}-back`);
  });

  it('without a column whose name line_tsd cannot represent if errors are tolerated; otherwise its table is FAILED (M7)', async () => {
    const table = uniqueName('blank').replaceAll('-', '_');
    const name = uniqueName('blank');
    await sql.run(
      `create table ${table} (ts timestamptz primary key, "b c" int4, d int4)`,
      `insert into ${table} select timestamptz '2026-01-01 00:00:00Z' + i * interval '1 s', i, 10 * i from generate_series(1, 3) i`,
    );
    const config = { 'topic.prefix': name, 'table.include': table, 'out.format': 'line_tsd' };
    await sluice.rest.create(name, sourceConfig(db, config));
    const refusal = `Table ${table} is not read: line_tsd cannot represent the name or tag value`;
    await until(() => sluice.log.includes(refusal), 'the table is FAILED');
    const tolerant = `${name}-all`;
    await sluice.rest.create(tolerant, sourceConfig(db, { ...config, 'errors.tolerance': 'all' }));
    const records = await kafka.read(`${name}-${db.database}-${table}-line_tsd`, ({ length }) => length === 3);
    const start = Date.UTC(2026, 0, 1);
    assert.deepEqual(
      records.map(({ value }) => value?.toString()),
      [1, 2, 3].map((i) => `${table}.d ${String(start + i * 1000)} ${String(10 * i)}`),
    );
    assert.match(sluice.log, new RegExp(`Skipped a column of table ${table} .*b c`));
    await sluice.rest.delete(`/connectors/${name}`);
    await sluice.rest.delete(`/connectors/${tolerant}`);
  });

  it('without a row that line_tsd cannot represent, which becomes a dead letter if errors are tolerated', async () => {
    const table = uniqueName('spelled').replaceAll('-', '_');
    const name = uniqueName('spelled');
    const letters = uniqueName('letters');
    await kafka.createTopic(letters);
    await sql.run(
      `create table ${table} (ts timestamptz primary key, n int8, site text)`,
      `comment on column ${table}.site is 'sluice:tag'`,
      `insert into ${table} values ('2026-01-01', 1, 'a'), ('2026-01-02', 2, 'b c'), ('2026-01-03', 3, 'd')`,
    );
    const config = {
      'topic.prefix': name,
      'table.include': table,
      'out.format': 'line_tsd',
      'errors.tolerance': 'all',
      'errors.deadletterqueue.topic.name': letters,
    };
    await sluice.rest.create(name, sourceConfig(db, config));
    const topic = `${name}-${db.database}-${table}-line_tsd`;
    const records = await kafka.read(topic, ({ length }) => length === 2);
    assert.deepEqual(
      records.map(({ value }) => value?.toString()),
      [`${table}.n 1767225600000 1 site=a`, `${table}.n 1767398400000 3 site=d`],
    );
    const [letter] = await kafka.read(letters, ({ length }) => length === 1);
    assert.deepEqual(JSON.parse(letter?.value?.toString() ?? ''), {
      ts: '2026-01-02 00:00:00+00',
      n: '2',
      site: 'b c',
    });
    const header = (key: string) => letter?.headers.find((each) => each.key === key)?.value?.toString() ?? '';
    assert.equal(header('__connect.errors.topic'), topic);
    assert.match(
      header('__connect.errors.exception.message'),
      /row ts=2026-01-02 00:00:00\+00: line_tsd cannot .*"b c"/,
    );
    await sluice.rest.delete(`/connectors/${name}`);
  });

  it('unless a row is too large for the broker: the task fails and names its table and key', async () => {
    const name = uniqueName('large');
    await sql.run(
      'create table large (ts timestamptz, id int4, body text, primary key (ts, id))',
      `insert into large select '2026-01-01', i, repeat('x', case i when 7 then 300000 else 10 end) from generate_series(1, 9) i`,
    );
    await sluice.rest.create(
      name,
      sourceConfig(db, {
        'topic.prefix': name,
        'table.include': 'large',
        'producer.override.max.request.size': '200000',
      }),
    );
    const trace = await until(async () => (await sluice.rest.status(name)).tasks[0]?.trace, 'the task fails');
    assert.match(
      trace,
      /RecordTooLargeException: table large, row ts=2026-01-01 00:00:00\+00, id=7: .* 300\d\d\d bytes/,
    );
    await sluice.rest.delete(`/connectors/${name}`);
  });
});
