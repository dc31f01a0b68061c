import assert from 'node:assert/strict';
import { sinkConfig } from '../support/connectors.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { SinkFixture } from '../integration/sink-fixture.ts';

const AT_MS = 1_700_000_000_000;
const DELIVERIES = ['at-least-once', 'exactly-once'] as const;
const JSON_CONVERTER = {
  'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
  'value.converter.schemas.enable': 'false',
};

interface Format {
  readonly options: Readonly<Record<string, string>>;
  /** One row with this number, of a table with columns ts, n and site. */
  readonly message: (table: string, n: number, database: string) => string;
  /** A value that the converter accepts and the decoder rejects. */
  readonly garbage: string;
}

const FORMATS: Readonly<Record<string, Format>> = {
  json_db: {
    options: { 'timestamp.precision': 'ms' },
    message: (table, n) => {
      const columns = [
        { name: 'ts', type: 'TIMESTAMPTZ' },
        { name: 'n', type: 'INT8' },
      ];
      const tags = [{ name: 'site', type: 'VARCHAR', length: 8, primary: true }];
      return JSON.stringify({ table, columns, tags, data: [{ ts: AT_MS + n, n, site: 'a' }] });
    },
    garbage: 'this is { no message',
  },
  cdc_db: {
    options: {},
    message: (table, n, database) => {
      const described = { columnnames: ['ts', 'n', 'site'], columntypes: ['timestamptz', 'int8', 'varchar'] };
      const columnvalues = [[AT_MS + n, n, 'a']];
      return JSON.stringify({ kind: 'insert', database, table, ...described, columnvalues });
    },
    garbage: '{"kind":"merge"}',
  },
  json_tsd: {
    options: {},
    message: (table, n) =>
      JSON.stringify([{ metric: `${table}.n`, timestamp: AT_MS + n, value: n, tags: { site: 'a' } }]),
    garbage: '[{"metric": 1}]',
  },
  line_tsd: {
    options: {},
    message: (table, n) => `${table}.n ${String(AT_MS + n)} ${String(n)} site=a`,
    garbage: 'no line',
  },
  line_lp: {
    options: { 'timestamp.precision': 'ms' },
    message: (table, n) => `${table},site=a n=${String(n)}i ${String(AT_MS + n)}`,
    garbage: 'no line at all',
  },
  struct: {
    options: { ...JSON_CONVERTER, 'insert.mode': 'insert' },
    message: (_table, n) => JSON.stringify({ ts: new Date(AT_MS + n).toISOString(), n, site: 'a' }),
    garbage: '17',
  },
};

/** One of the parallel cases of a test: its delivery, a connection of its own, and names that nobody else has. */
class Case {
  readonly delivery: string;
  readonly ending: string;
  readonly #fixture: SinkFixture;
  readonly sql: SqlClient;

  constructor(fixture: SinkFixture, delivery: string) {
    this.#fixture = fixture;
    this.delivery = delivery;
    this.ending = delivery.slice(0, 2);
    this.sql = new SqlClient(fixture.db);
  }

  /** No key: what is stored twice shows. */
  async table(name: string, isSeries: boolean, n = 'n int2 check (n <> 13)'): Promise<void> {
    await this.sql.run(
      `create table ${name} (ts timestamptz(3), ${n}, site varchar(8))`,
      ...(isSeries ? [`comment on column ${name}.site is 'sluice:primary-tag'`] : []),
    );
  }

  async numbers(of: string): Promise<(string | null | undefined)[]> {
    return (await this.sql.rows(`select n from ${of}`)).map(([n]) => n);
  }

  async exists(table: string): Promise<boolean> {
    return (await this.sql.rows('select to_regclass($1) is not null', [table]))[0]?.[0] === 't';
  }

  /** The task has failed: the stored rows, and the offset at which it continues. */
  async failed(connector: string, of: string): Promise<unknown[]> {
    await this.#fixture.traceOf(connector);
    return [await this.numbers(of), await this.#fixture.kafka.committed(`connect-${connector}`)];
  }

  async restart(connector: string): Promise<void> {
    const { rest } = this.#fixture.sluice;
    const [failed] = (await rest.status(connector)).tasks;
    assert.equal((await rest.post(`/connectors/${connector}/tasks/0/restart`)).status, 204);
    await until(async () => {
      const [task] = (await rest.status(connector)).tasks;
      // It may have failed at another record by now.
      return task?.state !== 'FAILED' || task.trace !== failed?.trace;
    }, `${connector} runs again`);
  }

  /** Continues at that offset. */
  async skipTo(connector: string, topic: string, offset: number): Promise<void> {
    const { rest } = this.#fixture.sluice;
    assert.equal((await rest.put(`/connectors/${connector}/stop`)).status, 204);
    const partition = { kafka_topic: topic, kafka_partition: 0 };
    const offsets = [{ partition, offset: { kafka_offset: offset } }];
    await until(
      async () => (await rest.request('PATCH', `/connectors/${connector}/offsets`, { offsets })).status === 200,
      'the offset is changed',
    );
    assert.equal((await rest.put(`/connectors/${connector}/resume`)).status, 202);
  }
}

/** L3: with `errors.tolerance=none`, the default. */
describe('the first record that fails a sink', function () {
  let fixture: SinkFixture;

  before(async () => (fixture = await SinkFixture.create('order')));
  after(() => fixture.close());

  /** Side by side, for each delivery. */
  async function each<T>(subjects: readonly T[], work: (subject: T, own: Case) => Promise<void>): Promise<void> {
    const cases = DELIVERIES.flatMap((delivery) => subjects.map((subject) => ({ subject, delivery })));
    await Promise.all(
      cases.map(async ({ subject, delivery }) => {
        const own = new Case(fixture, delivery);
        try {
          await work(subject, own);
        } finally {
          await own.sql.close();
        }
      }),
    );
  }

  it('has all records before it stored, none after it, and is where a restart continues, whatever the format', () =>
    each(Object.entries(FORMATS), async ([format, { options, message, garbage }], own) => {
      const name = `${format}_${own.ending}`;
      await own.table(name, format !== 'struct');
      const row = (n: number) => message(name, n, fixture.db.database);
      const topic = await fixture.topicOf([row(1), garbage, row(2), row(13), row(3), row(40_000), row(4)]);
      const connector = await fixture.start(topic, {
        'protocol.type': format,
        ...(format === 'struct' ? { 'table.name.format': name } : {}),
        ...options,
        delivery: own.delivery,
      });
      assert.deepEqual(await own.failed(connector, name), [['1'], 1], `${name}: no message`);
      await own.skipTo(connector, topic, 2);
      assert.deepEqual(await own.failed(connector, name), [['1', '2'], 3], `${name}: refused by the database`);
      await own.sql.run(`alter table ${name} drop constraint ${name}_n_check`);
      await own.restart(connector);
      assert.deepEqual(await own.failed(connector, name), [['1', '2', '13', '3'], 5], `${name}: too large a number`);
      await own.sql.run(`alter table ${name} alter n type int8`);
      await own.restart(connector);
      await fixture.done(connector, 7);
      assert.deepEqual(await own.numbers(name), ['1', '2', '13', '3', '40000', '4'], name);
    }));

  it('has all records before it stored when a converter or a transform fails', () => {
    const cast = {
      transforms: 'cast',
      'transforms.cast.type': 'org.apache.kafka.connect.transforms.Cast$Value',
      'transforms.cast.spec': 'n:int16',
    };
    const of = (n: string) => JSON.stringify({ n });
    return each([{}, cast], async (transforms, own) => {
      const name = `${'transforms' in transforms ? 'transformed' : 'converted'}_${own.ending}`;
      await own.table(name, false, 'n text');
      const topic = await fixture.topicOf([of('1'), 'not JSON', of('2'), of('x'), of('3')]);
      const options = { 'protocol.type': 'struct', 'table.name.format': name, 'insert.mode': 'insert' };
      const config = { topics: topic, ...options, ...JSON_CONVERTER, delivery: own.delivery };
      const connector = await fixture.start(topic, { ...config, ...transforms });
      assert.deepEqual(await own.failed(connector, name), [['1'], 1], name);
      await own.skipTo(connector, topic, 2);
      if ('transforms' in transforms) {
        assert.deepEqual(await own.failed(connector, name), [['1', '2'], 3], name);
        const mended = sinkConfig(fixture.db, config);
        assert.equal((await fixture.sluice.rest.put(`/connectors/${connector}/config`, mended)).status, 200);
      }
      await until(async () => (await fixture.kafka.committed(`connect-${connector}`)) === 5, `${name} is done`);
      assert.deepEqual(await own.numbers(name), ['1', '2', 'x', '3'], name);
    });
  });

  it('keeps statements and rows after it from being executed, also with one record per poll', () =>
    each(['500', '1'], async (records, own) => {
      const name = `f${records}_${own.ending}`;
      const { database } = fixture.db;
      const columns = { columnnames: ['id'], columntypes: ['int8'] };
      const insert = (id: number) =>
        JSON.stringify({ kind: 'insert', database, table: name, ...columns, columnvalues: [[id]] });
      const change = (kind: string, statement: string) => JSON.stringify({ kind, database, statement });
      await own.sql.run(`create table other_${name} (id int8)`);
      const topic = await fixture.topicOf([
        change('create', `CREATE TABLE ${name} (id int8, n int8)`),
        insert(1),
        change('update', `UPDATE ${name} SET nosuch = 1`),
        insert(2),
        change('delete', `DELETE FROM ${name} WHERE id = 1`),
        change('drop', `DROP TABLE other_${name}`),
      ]);
      const connector = await fixture.start(topic, {
        'protocol.type': 'cdc_db',
        'consumer.override.max.poll.records': records,
        delivery: own.delivery,
      });
      assert.match(await fixture.traceOf(connector), /partition 0, offset 2: .*column "nosuch"/);
      assert.deepEqual(await own.sql.rows(`select id from ${name}`), [['1']], name);
      assert.ok(await own.exists(`other_${name}`), name);
      assert.equal(await fixture.kafka.committed(`connect-${connector}`), 2, name);
      await own.sql.run(`alter table ${name} add column nosuch int8`);
      await own.restart(connector);
      await fixture.done(connector, 6);
      assert.deepEqual(await own.sql.rows(`select id, nosuch from ${name}`), [['2', null]], name);
      assert.ok(!(await own.exists(`other_${name}`)), name);
    }));

  it('keeps columns that only records after it have from being added to its own tables', () =>
    each([''], async (_, own) => {
      const plant = `plant_${own.ending}`;
      const metric = `metric_${own.ending}`;
      await own.table(plant, true);
      const line = (n: number, tags: string): string => `${metric} ${String(AT_MS + n)} ${String(n)} site=a${tags}`;
      const refused = `${line(2, ' rack=r')}\n${plant}.n ${String(AT_MS)} 1.5 site=a`;
      const topic = await fixture.topicOf([line(1, ''), refused, line(3, ' zone=z')]);
      const connector = await fixture.start(topic, { 'protocol.type': 'line_tsd', delivery: own.delivery });
      assert.match(await fixture.traceOf(connector), /partition 0, offset 1: .*1\.5 is not an integer/);
      assert.deepEqual(await own.sql.rows(`select value from ${metric}`), [['1']]);
      const columns = (await fixture.columnsOf(metric)).map(([column]) => column);
      assert.ok(!columns.includes('zone'), `${metric} has ${columns.join(', ')}`);
    }));

  it('keeps tables that only records after it need from being created; other partitions lose and duplicate nothing', () =>
    each([''], async (_, own) => {
      const known = `known_${own.ending}`;
      const [early, late] = [`early_${own.ending}`, `late_${own.ending}`];
      await own.table(known, true);
      const { message } = FORMATS['json_db'] ?? assert.fail();
      const of = (name: string, n: number) => message(name, n, '');
      const topic = await fixture.topicOf([], 2);
      const broken = [of(known, 1), of(early, 2), of(known, 13), of(late, 3), of(known, 4)];
      const whole = Array.from({ length: 50 }, (__, n) => of(n % 2 === 0 ? known : early, 100 + n));
      await fixture.send(topic, [
        ...broken.map((value) => ({ value, partition: 0 })),
        ...whole.map((value) => ({ value, partition: 1 })),
      ]);
      const options = { 'protocol.type': 'json_db', 'timestamp.precision': 'ms', delivery: own.delivery };
      const connector = await fixture.start(topic, options);
      assert.match(await fixture.traceOf(connector), /partition 0, offset 2: /);
      const ofFirst = async (name: string) => (await own.numbers(name)).filter((n) => Number(n) < 100);
      assert.deepEqual(await ofFirst(known), ['1']);
      assert.deepEqual(await ofFirst(early), ['2']);
      assert.ok(!(await own.exists(late)));
      await own.sql.run(`alter table ${known} drop constraint ${known}_n_check`);
      await own.restart(connector);
      await fixture.done(connector, broken.length + whole.length);
      assert.deepEqual(await ofFirst(known), ['1', '13', '4']);
      assert.deepEqual(await own.numbers(late), ['3']);
      const all = [...(await own.numbers(known)), ...(await own.numbers(early))].map(Number);
      assert.deepEqual(
        all.filter((n) => n >= 100).sort((a, b) => a - b),
        whole.map((__, n) => 100 + n),
      );
    }));
});
