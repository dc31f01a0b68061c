import assert from 'node:assert/strict';
import { sourceConfig } from '../support/connectors.ts';
import { logWorkerStage } from '../support/log-source-stage.ts';
import { uniqueName } from '../support/services.ts';

const AT_MS = 1_767_225_600_000;

/** The text of a row with this second and temperature. */
const ROWS: Readonly<Record<string, (second: number, temp: number) => string>> = {
  json_db: (second, temp) =>
    `{"table":"meters","columns":[{"name":"ts","type":"TIMESTAMPTZ","length":64},{"name":"temp","type":"FLOAT8","length":64}],` +
    `"data":[{"ts":${String(AT_MS + second * 1000)},"temp":${String(temp)},"site":"oslo"}],` +
    `"tags":[{"name":"site","type":"VARCHAR","length":16,"isPrimary":true,"nullable":false}]}`,
  json_tsd: (second, temp) =>
    `[{"metric":"meters.temp","timestamp":${String(AT_MS + second * 1000)},"value":${String(temp)},"tags":{"site":"oslo"}}]`,
  line_tsd: (second, temp) => `meters.temp ${String(AT_MS + second * 1000)} ${String(temp)} site=oslo`,
  line_lp: (second, temp) => `meters,site=oslo temp=${String(temp)}f64 ${String(AT_MS + second * 1000)}000000`,
};

describe('the database source that reads the log', function () {
  const stage = logWorkerStage();

  beforeEach(async () => {
    await stage.sql.run(
      'create table meters (ts timestamptz(3), temp float8, site varchar(16), primary key (ts, site))',
      `comment on column meters.site is 'sluice:primary-tag'`,
      `insert into meters values ('2026-01-01 00:00:00+00', 1.5, 'oslo')`,
    );
  });
  afterEach(() => stage.sql.run('drop table meters'));

  function config(more: Readonly<Record<string, string>>): Record<string, string> {
    const { 'poll.interval.ms': _, ...options } = sourceConfig(stage.db, {
      'read.method': 'log',
      'table.include': 'meters',
      'topic.prefix': uniqueName('log'),
      ...more,
    });
    return options;
  }

  /** Starts a source; returns its topic once it reads the log. */
  async function start(format: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    const name = uniqueName('log');
    const options = config({ 'out.format': format, ...more });
    const topic = `${options['topic.prefix'] ?? ''}-postgres-meters-${format}`;
    await stage.kafka.createTopic(topic);
    await stage.sluice.rest.create(name, options);
    await stage.untilRead(`sluice_${name.replaceAll('-', '_')}`);
    return topic;
  }

  for (const [format, rowOf] of Object.entries(ROWS)) {
    it(`sends inserted and updated rows as ${format}, after those that exist`, async () => {
      const topic = await start(format);
      await stage.sql.run(
        `insert into meters values ('2026-01-01 00:00:01+00', 2.5, 'oslo')`,
        `update meters set temp = 3.5 where temp = 2.5`,
        'delete from meters where temp = 1.5',
        `insert into meters values ('2026-01-01 00:00:02+00', 4.5, 'oslo')`,
      );
      const texts = await stage.kafka.texts(topic, 4);
      assert.deepEqual(texts, [rowOf(0, 1.5), rowOf(1, 2.5), rowOf(1, 3.5), rowOf(2, 4.5)]);
    });
  }

  it('writes a dead letter for a row that line_tsd cannot represent, from the snapshot and from the log', async () => {
    const letters = uniqueName('letters');
    await stage.kafka.createTopic(letters);
    await stage.sql.run(`insert into meters values ('2026-01-01 00:00:01+00', 2.5, 'o slo')`);
    const topic = await start('line_tsd', {
      'errors.tolerance': 'all',
      'errors.deadletterqueue.topic.name': letters,
    });
    await stage.sql.run(
      `insert into meters values ('2026-01-01 00:00:02+00', 3.5, 'o slo')`,
      `insert into meters values ('2026-01-01 00:00:03+00', 4.5, 'oslo')`,
    );
    const rowOf = ROWS['line_tsd'];
    assert.deepEqual(await stage.kafka.texts(topic, 2), [rowOf?.(0, 1.5), rowOf?.(3, 4.5)]);
    const failed = await stage.kafka.read(letters, ({ length }) => length === 2);
    for (const { headers } of failed) {
      const message = headers.find(({ key }) => key === '__connect.errors.exception.message')?.value?.toString() ?? '';
      assert.match(message, /meters.*line_tsd cannot represent the name or tag value "o slo"/);
    }
  });

  it('leaves large values that a change did not touch out of json_db', async () => {
    await stage.sql.run(
      'alter table meters add column body text',
      'alter table meters alter body set storage external',
    );
    const topic = await start('json_db', { 'log.snapshot.mode': 'no_data' });
    await stage.sql.run(
      `insert into meters values ('2026-01-01 00:00:01+00', 2.5, 'oslo', repeat('x', 5000))`,
      'update meters set temp = 3.5 where temp = 2.5',
    );
    const rows = (await stage.kafka.texts(topic, 2)).map(
      (text) => (JSON.parse(text) as { readonly data: readonly Readonly<Record<string, unknown>>[] }).data[0],
    );
    assert.deepEqual(
      rows.map((row) => row?.['temp']),
      [2.5, 3.5],
    );
    assert.equal(rows[0]?.['body'], 'x'.repeat(5000));
    assert.equal(Object.hasOwn(rows[1] ?? {}, 'body'), false);
  });

  it('sends change events as structs, with the converter of the connector', async () => {
    const json = 'org.apache.kafka.connect.json.JsonConverter';
    const topic = await start('struct', {
      'key.converter': json,
      'key.converter.schemas.enable': 'false',
      'value.converter': json,
      'value.converter.schemas.enable': 'false',
    });
    await stage.sql.run('update meters set temp = 2.5', 'delete from meters');
    const values = (await stage.kafka.read(topic, ({ length }) => length >= 4)).map(({ value }) =>
      value === null
        ? null
        : (JSON.parse(value.toString()) as {
            readonly op: string;
            readonly after: Readonly<Record<string, unknown>> | null;
          }),
    );
    assert.deepEqual(
      values.map((value) => (value === null ? null : [value.op, value.after?.['temp']])),
      [['r', 1.5], ['u', 2.5], ['d', undefined], null],
    );
  });

  it('is refused with options that have no meaning with the log, each by name', async () => {
    const refused = async (options: Readonly<Record<string, string>>): Promise<readonly string[]> => {
      const answer = await stage.sluice.rest.request<{
        readonly configs: readonly { readonly value: { readonly name: string; readonly errors: readonly string[] } }[];
      }>('PUT', '/connector-plugins/DbSourceConnector/config/validate', { name: 'x', ...options });
      return answer.body.configs.flatMap(({ value }) => (value.errors.length > 0 ? [value.name] : []));
    };
    assert.deepEqual(await refused(config({})), []);
    const queried = {
      'timestamp.column.name': 'ts',
      'timestamp.initial': '2026-01-01 00:00:00',
      'fetch.max.rows': '5',
      'query.interval.ms': '5',
      mode: 'bulk',
    };
    assert.deepEqual([...(await refused(config(queried)))].sort(), Object.keys(queried).sort());
    assert.deepEqual(
      await refused(config({ 'out.format': 'json_db', 'log.ddl': 'true', 'topic.per.stable': 'false' })),
      ['log.ddl'],
    );
    assert.deepEqual(await refused(config({ 'out.format': 'cdc_db', 'log.ddl': 'true' })), ['topic.per.stable']);
    assert.deepEqual(await refused(config({ 'out.format': 'cdc_db', 'read.method': 'query' })), ['out.format']);
  });

  it('is refused with log.ddl, with the SQL of the event triggers, unless the user may create them', async () => {
    const user = uniqueName('plain').replaceAll('-', '_');
    await stage.sql.run(
      `create role ${user} login replication password 'x'`,
      `grant select on meters to ${user}`,
      `create publication ${user} for all tables`,
    );
    const ddl = { 'out.format': 'cdc_db', 'log.ddl': 'true', 'topic.per.stable': 'false' };
    const options = {
      ...config({ ...ddl, 'log.publication.name': user }),
      'connection.user': user,
      'connection.password': 'x',
    };
    const answer = await stage.sluice.rest.request<{
      readonly configs: readonly { readonly value: { readonly name: string; readonly errors: readonly string[] } }[];
    }>('PUT', '/connector-plugins/DbSourceConnector/config/validate', { name: 'x', ...options });
    const wrong = answer.body.configs.filter(({ value }) => value.errors.length > 0);
    assert.deepEqual(
      wrong.map(({ value }) => value.name),
      ['log.ddl'],
    );
    assert.match(
      wrong[0]?.value.errors[0] ?? '',
      /^event triggers: only a superuser may create them\. To fix it: run this once .*CREATE EVENT TRIGGER sluice_ddl_end/s,
    );
  });
});
