import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kafka, logLevel, type Admin } from 'kafkajs';
import { sinkConfig, sourceConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { WorkerProcess } from '../support/worker-process.ts';

interface Fault {
  readonly stage: string;
  readonly message: string;
  readonly class?: string;
  readonly table?: string;
  readonly column?: string;
  readonly sqlstate?: string;
}

interface Previewed {
  readonly message: {
    readonly topic: string;
    readonly partition: number;
    readonly offset: number;
    readonly timestamp: number;
  };
  readonly record: {
    readonly topic: string;
    readonly key: unknown;
    readonly value: unknown;
    readonly headers: unknown;
  } | null;
  readonly dropped: boolean;
  readonly rows?: readonly {
    readonly table: string;
    readonly operation: string;
    readonly columns: string[];
    readonly values: unknown[];
  }[];
  readonly lines?: readonly string[];
  readonly statements?: readonly string[];
  readonly faults: readonly Fault[];
}

interface Preview {
  readonly name: string;
  readonly records: readonly Previewed[];
}

interface ErrorBody {
  readonly error_code: number;
  readonly message: string;
}

const AT_MS = 1_700_000_000_000;
const SECRET = 'the-secret"of-the-provider';
const TRANSFORMS = 'org.apache.kafka.connect.transforms';
const JSON_WITHOUT_SCHEMAS = {
  'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
  'value.converter.schemas.enable': 'false',
};

/** Every test leaves the database, the broker's groups and the worker's connectors as they were. */
describe('a preview of a sink', function () {
  let sluice: WorkerProcess;
  let db: TestDatabase;
  let sql: SqlClient;
  let kafka: KafkaTraffic;
  let folder = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-preview-'));
    [db, kafka] = await Promise.all([database('preview'), KafkaTraffic.shared()]);
    const environment = { PREVIEW_PASSWORD: db.password, PREVIEW_SECRET: SECRET };
    sluice = await WorkerProcess.start({
      environment,
      properties: {
        'config.providers': 'env',
        'config.providers.env.class': 'org.apache.kafka.common.config.provider.EnvVarConfigProvider',
        'config.providers.env.param.allowlist.pattern': 'PREVIEW_.*',
      },
    });
    sql = new SqlClient(db);
    await sql.run(
      'create table orders (id int8 primary key, name varchar(8) not null, paid numeric)',
      'create table plant (ts timestamptz not null, site varchar(16) not null, power float8, primary key (ts, site))',
      "comment on column plant.site is 'sluice:primary-tag'",
      "insert into orders values (1, 'there', 1)",
      'create table parts (id int8 primary key, "order" int8 references orders deferrable initially deferred)',
    );
  });

  after(async () => {
    await sluice.discard();
    await sql.close();
    await rm(folder, { recursive: true });
  });

  const post = <T>(body: unknown, plugin = 'DbSink') =>
    sluice.rest.post<T>(`/connector-plugins/${plugin}/preview`, body);

  async function preview(
    config: Readonly<Record<string, unknown>>,
    messages: readonly object[],
    plugin?: string,
  ): Promise<readonly Previewed[]> {
    const before = await everything();
    const { status, body } = await post<Preview>({ config, messages }, plugin);
    assert.equal(status, 200, JSON.stringify(body));
    if (process.env['SHOW'] !== undefined) console.log(JSON.stringify(body, null, 1));
    assert.equal(body.records.length, messages.length);
    assert.deepEqual(await everything(), before);
    return body.records;
  }

  const values = (format: string, list: readonly unknown[], more: Readonly<Record<string, unknown>> = {}) =>
    preview(
      sinkConfig(db, { 'protocol.type': format, ...(more as Record<string, string>) }),
      list.map((value) => ({ value, timestamp: AT_MS })),
    );

  /** Columns, rows and sequences of every table. */
  const everything = () =>
    sql.rows(
      `select c.relname, c.relkind, (select string_agg(a.attname || ' ' || a.atttypid, ',' order by attnum) from pg_attribute a
         where a.attrelid = c.oid and attnum > 0), case when c.relkind = 'r' then query_to_xml('select * from ' ||
         quote_ident(c.relname), true, true, '')::text end
       from pg_class c where relnamespace = 'public'::regnamespace order by 1`,
    );

  async function inGroups<T>(work: (admin: Admin) => Promise<T>): Promise<T> {
    const { 'bootstrap.servers': brokers = '' } = sluice.properties;
    const admin = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    try {
      return await work(admin);
    } finally {
      await admin.disconnect();
    }
  }

  describe('of each format shows rows and statements of tables that are and that are not there', () => {
    const meters = (data: object[]) => ({
      table: 'meters',
      columns: [
        { name: 'ts', type: 'TIMESTAMPTZ', length: 64 },
        { name: 'n', type: 'INT8', length: 64 },
      ],
      tags: [{ name: 'site', type: 'VARCHAR', length: 16, primary: true, nullable: false }],
      data,
    });

    it('json_db: the first message creates the table, the second finds it', async () => {
      const text = JSON.stringify(meters([{ ts: AT_MS, n: 0, site: 'oslo' }])).replace('"n":0', '"n":9007199254740993');
      const [first, second] = await values('json_db', [
        text,
        JSON.stringify(meters([{ ts: AT_MS + 1, n: 2, site: 'x' }])),
      ]);
      assert.deepEqual(first?.rows, [
        {
          table: 'meters',
          operation: 'store',
          columns: ['ts', 'n', 'site'],
          values: ['2023-11-14T22:13:20.000000Z', '9007199254740993', 'oslo'],
        },
      ]);
      assert.match(first.statements?.[0] ?? '', /^CREATE TABLE /i);
      assert.match(first.statements?.at(-1) ?? '', /^INSERT INTO /i);
      assert.deepEqual(first.faults, []);
      assert.equal(second?.statements?.length, 1);
      assert.match(second.statements[0] ?? '', /^INSERT INTO /i);
    });

    it('cdc_db: rows, statements, and one that cannot run in a transaction', async () => {
      const change = (more: object) =>
        JSON.stringify({ database: db.database, schema: 'public', table: 'orders', ...more });
      const names = { columnnames: ['id', 'name'], columntypes: ['int8', 'varchar'] };
      const [inserted, altered, indexed, after] = await values('cdc_db', [
        change({ kind: 'insert', ...names, columnvalues: [[7, 'cdc']] }),
        change({ kind: 'alter', statement: 'ALTER TABLE orders ADD COLUMN note text' }),
        change({ kind: 'create', statement: 'CREATE INDEX CONCURRENTLY by_name ON orders (name)' }),
        change({ kind: 'update', statement: "UPDATE orders SET note = 'x' WHERE id = 7" }),
      ]);
      assert.deepEqual(inserted?.rows?.[0]?.values, [7, 'cdc']);
      assert.deepEqual(altered?.statements, ['ALTER TABLE orders ADD COLUMN note text']);
      assert.deepEqual(indexed?.statements, ['CREATE INDEX CONCURRENTLY by_name ON orders (name)']);
      assert.deepEqual(after?.statements, ["UPDATE orders SET note = 'x' WHERE id = 7"]);
      assert.deepEqual(
        [inserted, altered, indexed, after].flatMap(({ faults }) => faults),
        [],
      );
    });

    it('json_tsd: a column of an existing table, and a new table', async () => {
      const [only] = await values('json_tsd', [
        JSON.stringify([
          { metric: 'plant.power', timestamp: AT_MS, value: 4.5, tags: { site: 'oslo' } },
          { metric: 'sys.load', timestamp: AT_MS, value: 1, tags: { host: 'a' } },
        ]),
      ]);
      assert.deepEqual(only?.rows?.map(({ table }) => table).sort(), ['plant', 'sys.load']);
      assert.ok(only.statements?.some((text) => /^CREATE TABLE .*"sys\.load"/i.test(text)));
    });

    it('line_tsd: several lines of one message', async () => {
      const [only] = await values('line_tsd', ['sys.mem 1700000000 0.5 host=a\nsys.mem 1700000001 0.6 host=a']);
      assert.equal(only?.rows?.length, 2);
      assert.deepEqual(only.faults, []);
    });

    it('line_lp: a line without a time has that of its message; the table is created only where that is allowed', async () => {
      const line = 'weather,site=oslo temp=4';
      const [refused] = await values('line_lp', [line]);
      assert.equal(refused?.faults[0]?.stage, 'TASK_PUT');
      assert.equal(refused.faults[0].sqlstate, '42P01');
      const [created] = await values('line_lp', [line], { 'auto.create': 'true' });
      assert.deepEqual(created?.faults, []);
      assert.ok(created.rows?.[0]?.values.includes('2023-11-14T22:13:20.000000Z'));
    });

    it('line_lp: rows have the names that the columns of the table have', async () => {
      await sql.run('create table climate (at timestamptz not null, temp float8)');
      const [stored] = await values('line_lp', ['climate temp=4']);
      assert.deepEqual([stored?.rows?.[0]?.columns, stored?.faults], [['at', 'temp'], []]);
    });

    it('struct: records as the converters read them, deletions too', async () => {
      const config = sinkConfig(db, {
        'protocol.type': 'struct',
        'table.name.format': 'orders',
        'insert.mode': 'upsert',
        'pk.mode': 'record_key',
        'pk.fields': 'id',
        'delete.enabled': 'true',
        'key.converter': 'org.apache.kafka.connect.converters.LongConverter',
        ...JSON_WITHOUT_SCHEMAS,
      });
      const key = { base64: 'AAAAAAAAAAE=' };
      const [stored, deleted] = await preview(config, [{ key, value: { name: 'new', paid: 12.5 } }, { key }]);
      assert.deepEqual(stored?.rows, [
        { table: 'orders', operation: 'store', columns: ['id', 'name', 'paid'], values: [1, 'new', 12.5] },
      ]);
      assert.match(stored.statements?.[0] ?? '', /^INSERT INTO .* ON CONFLICT /is);
      assert.equal(deleted?.rows?.[0]?.operation, 'delete');
      assert.match(deleted.statements?.[0] ?? '', /^DELETE FROM /i);
    });
  });

  it('reports failures with their places, and continues with the next message', async () => {
    const config = sinkConfig(db, {
      'protocol.type': 'struct',
      'table.name.format': 'orders',
      ...JSON_WITHOUT_SCHEMAS,
      transforms: 'drop,cast',
      'transforms.drop.type': `${TRANSFORMS}.Filter`,
      'transforms.drop.predicate': 'marked',
      'transforms.cast.type': `${TRANSFORMS}.Cast$Value`,
      'transforms.cast.spec': 'id:int64',
      predicates: 'marked',
      'predicates.marked.type': `${TRANSFORMS}.predicates.HasHeaderKey`,
      'predicates.marked.name': 'mark',
    });
    const records = await preview(config, [
      { value: { id: '2', name: 'good', paid: 0.1 } },
      { value: { id: 3, name: 'dropped' }, headers: { mark: 'x' } },
      { value: { id: 'three', name: 'no number' } },
      { value: '{"id": 4, ' },
      { value: { id: 5, name: 'much too long a name' } },
      { value: { id: 6, name: null } },
      { value: { id: 1, name: 'twice' } },
      { value: { id: 8, name: 'good' }, headers: [{ key: 'h' }, { key: 'h', value: 5 }] },
    ]);
    assert.deepEqual(
      records.map(({ record, dropped, faults }) => [record !== null, dropped, faults[0]?.stage, faults[0]?.sqlstate]),
      [
        [true, false, undefined, undefined],
        [false, true, undefined, undefined],
        [false, false, 'TRANSFORMATION', undefined],
        [false, false, 'VALUE_CONVERTER', undefined],
        [true, false, 'TASK_PUT', '22001'],
        [true, false, 'TASK_PUT', '23502'],
        [true, false, 'TASK_PUT', '23505'],
        [true, false, undefined, undefined],
      ],
    );
    assert.equal(records[2]?.faults[0]?.class, `${TRANSFORMS}.Cast$Value`);
    assert.equal(records[3]?.faults[0]?.class, 'org.apache.kafka.connect.json.JsonConverter');
    assert.match(records[3].faults[0].message ?? '', /due to serialization error: \S+/, 'N3: the cause is named');
    const [fault] = records[5]?.faults ?? [];
    assert.deepEqual([fault?.table, fault?.column], ['orders', 'name']);
    assert.match(fault?.message ?? '', /^column "name" of table "orders" .*: the value is missing/);
    assert.deepEqual(records[7]?.record?.headers, [
      { key: 'h', value: null },
      { key: 'h', value: { schema: { type: 'int8', optional: false }, payload: 5 } },
    ]);
  });

  it('finds failures that occur only at the commit, and locks of other transactions', async () => {
    const parts = JSON.stringify({
      ...{ kind: 'insert', database: db.database, schema: 'public', table: 'parts' },
      ...{ columnnames: ['id', 'order'], columntypes: ['int8', 'int8'], columnvalues: [[1, 404]] },
    });
    const [orphan] = await values('cdc_db', [parts]);
    assert.equal(orphan?.faults[0]?.sqlstate, '23503');
    const holder = new SqlClient(db);
    await holder.run('begin', "update orders set name = 'held' where id = 1");
    try {
      const started = Date.now();
      const statement = JSON.stringify({
        ...{ kind: 'update', database: db.database, schema: 'public', table: 'orders' },
        statement: "UPDATE orders SET name = 'x' WHERE id = 1",
      });
      const [held, free] = await values('cdc_db', [statement, statement.replace('id = 1', 'id = 2')]);
      assert.match(held?.faults[0]?.message ?? '', /lock timeout/);
      assert.deepEqual(free?.faults, []);
      assert.ok(Date.now() - started < 30_000);
    } finally {
      await holder.run('rollback');
      await holder.close();
    }
  });

  it("reads a topic's newest messages in no group, and leaves the group's offsets alone", async () => {
    const topic = uniqueName('newest');
    const name = uniqueName('reader');
    await kafka.createTopic(topic, 2);
    const line = (n: number) => `plant,site=s${String(n)} power=${String(n)}`;
    for (let n = 1; n <= 5; n++) await kafka.produce(topic, [{ value: line(n), key: 'k', partition: n % 2 }]);
    const config = sinkConfig(db, { name, topics: topic, 'protocol.type': 'line_lp' });
    const groupId = `connect-${name}`;
    await inGroups((admin) => admin.setOffsets({ groupId, topic, partitions: [{ partition: 1, offset: '1' }] }));
    const groups = () =>
      inGroups(async (admin) => ({
        names: (await admin.listGroups()).groups
          .map((group) => group.groupId)
          .filter((id) => /preview|reader/.test(id)),
        members: (await admin.describeGroups([groupId])).groups[0]?.members,
        offsets: await admin.fetchOffsets({ groupId }),
      }));
    const before = { groups: await groups(), rows: await everything() };
    assert.deepEqual(before.groups.members, []);
    const { status, body } = await post<Preview>({ config, topic, count: 3 });
    assert.equal(status, 200);
    assert.deepEqual(
      body.records.map(({ message, rows }) => [message.partition, message.offset, rows?.[0]?.values.includes('s5')]),
      [
        [1, 1, false],
        [0, 1, false],
        [1, 2, true],
      ],
    );
    assert.deepEqual(
      body.records.map(({ message }) => message.topic),
      [topic, topic, topic],
    );
    assert.equal((await post<Preview>({ config, topic })).body.records.length, 5);
    assert.deepEqual(await groups(), before.groups);
    assert.deepEqual(await everything(), before.rows);
    const missing = await post<ErrorBody>({ config, topic: 'no-such-topic' });
    assert.deepEqual([missing.status, missing.body.message], [404, 'There is no topic no-such-topic']);
  });

  it("shows the file sink's lines, and writes no file", async () => {
    const config = { 'connector.class': 'FileStreamSink', file: join(folder, 'out'), ...JSON_WITHOUT_SCHEMAS };
    const records = await preview(config, [{ value: { a: 1, b: [true, null] } }, { value: 'text"' }], 'FileStreamSink');
    assert.deepEqual(records[0]?.lines, ['{a=1, b=[true, null]}']);
    assert.equal(records[1]?.faults[0]?.stage, 'VALUE_CONVERTER');
    assert.deepEqual(await readdir(folder), []);
  });

  it('S5: resolves no variable that is not stored, and shows no password', async () => {
    const config = sinkConfig(db, {
      'protocol.type': 'struct',
      'table.name.format': 'orders',
      ...JSON_WITHOUT_SCHEMAS,
      transforms: 'secret',
      'transforms.secret.type': `${TRANSFORMS}.InsertField$Value`,
      'transforms.secret.static.field': 'name',
      'transforms.secret.static.value': '${env:PREVIEW_SECRET}',
    });
    const messages = [{ value: { id: 2 } }];
    const shaped = await post<ErrorBody>({ config, messages });
    assert.equal(shaped.status, 400);
    assert.match(shaped.body.message, /in passwords and addresses only, not in transforms\.secret\.static\.value$/);
    const password = {
      ...sinkConfig(db, { 'protocol.type': 'line_lp' }),
      'connection.password': '${env:PREVIEW_PASSWORD}',
    };
    const sent = await post<ErrorBody>({ config: password, messages });
    assert.equal(sent.status, 400);
    assert.match(
      sent.body.message,
      /^The secret of connection\.password is not sent to the address that .*connection\.url/,
    );
    const own = { ...config, 'transforms.secret.static.value': `${db.password} is the password` };
    const { status, body } = await post<Preview>({ config: own, messages });
    assert.equal(status, 200);
    assert.match(JSON.stringify(body), /\[hidden\] is the password/);
    const shown = `${JSON.stringify(body)} ${sluice.log}`;
    for (const spelling of [SECRET, JSON.stringify(SECRET).slice(1, -1)]) assert.ok(!shown.includes(spelling));
  });

  it('answers what is wrong with the request in 400', async () => {
    const config = sinkConfig(db, { 'protocol.type': 'line_lp' });
    const messages = [{ value: 'a b=1' }];
    const expected: [unknown, RegExp, string?][] = [
      [{ messages }, /^The request body must have required property 'config'$/],
      [{ config }, /^A preview takes messages, or a topic and a count/],
      [{ config, messages, count: 2 }, /not both$/],
      [
        { config, messages: Array.from({ length: 101 }, () => ({})) },
        /^The value at \/messages must NOT have more than 100/,
      ],
      [{ config, topic: 't', count: 101 }, /^The value at \/count must be <= 100$/],
      [{ config, messages: [5] }, /^The value at \/messages\/0 must be object$/],
      [{ config, messages: [{ text: 'x' }] }, /^Unrecognized field "text" at \/messages\/0$/],
      [{ config, messages: [{ timestamp: 1.5 }] }, /^The value at \/messages\/0\/timestamp must be integer$/],
      [{ config, messages: [{ value: { base64: '%' } }] }, /base64/],
      [
        { config: { ...config, 'batch.size': 'many' }, messages },
        /contains the following 2 error\(s\):\nInvalid value many/,
      ],
      [{ config: {}, messages }, /contains no connector type$/],
      [{ config: { 'connector.class': 'NoSuch' }, messages }, /^Failed to find any class/, 'NoSuch'],
      [
        { config, messages },
        /^Included connector type .* does not match request type FileStreamSink$/,
        'FileStreamSink',
      ],
      [
        { config: sourceConfig(db, { name: 's', 'topic.prefix': 'p' }), messages },
        /^Only sinks have messages to preview$/,
        'DbSource',
      ],
    ];
    for (const [body, message, plugin] of expected) {
      const answer = await post<ErrorBody>(body, plugin);
      assert.equal(answer.status, 400, `${String(message)}: ${JSON.stringify(answer.body)}`);
      assert.match(answer.body.message, message);
    }
    assert.equal((await sluice.rest.get('/connector-plugins/DbSink/preview')).status, 405);
    assert.deepEqual((await sluice.rest.get<string[]>('/connectors')).body, []);
  });
});
