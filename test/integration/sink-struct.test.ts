import assert from 'node:assert/strict';
import { keepingLetters, sinkConfig } from '../support/connectors.ts';
import type { TestMessage } from '../support/kafka-traffic.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { SinkFixture } from './sink-fixture.ts';

const JSON_CONVERTER = 'org.apache.kafka.connect.json.JsonConverter';
const STRUCTS = {
  'protocol.type': 'struct',
  'key.converter': JSON_CONVERTER,
  'value.converter': JSON_CONVERTER,
};

type FieldJson = readonly [name: string, type: string, more?: object];

function envelope(fields: readonly FieldJson[], payload: object): string {
  const list = fields.map(([field, type, more]) => ({ field, type, optional: false, ...more }));
  return JSON.stringify({ schema: { type: 'struct', fields: list, optional: false }, payload });
}

const ID: FieldJson = ['id', 'int64'];
const key = (id: number): string => envelope([ID], { id });
const order = (id: number, name: string | null): string =>
  envelope([ID, ['name', 'string', { optional: true }]], { id, name });

describe('struct records in a sink', function () {
  let fixture: SinkFixture;

  before(async () => (fixture = await SinkFixture.create('struct')));
  after(() => fixture.close());

  /** Starts a sink of a new topic with these messages; the topic's name is also that of the table, unless `more` says otherwise. */
  async function sink(
    messages: readonly TestMessage[],
    more: Record<string, string>,
  ): Promise<[topic: string, name: string]> {
    const topic = await fixture.topicOf(messages);
    const name = await fixture.start(topic, { ...STRUCTS, ...more });
    return [topic, name];
  }

  const untilRows = (query: string, rows: unknown): Promise<unknown> =>
    until(
      async () => JSON.stringify(await fixture.sql.rows(query)) === JSON.stringify(rows),
      `${query} gives ${JSON.stringify(rows)}`,
    );

  it('create their table with its key, upsert and delete rows, and add a column for a new field', async () => {
    const withNote = envelope([ID, ['note', 'string', { optional: true }]], { id: 3, note: 'n' });
    const messages: TestMessage[] = [
      { key: key(1), value: order(1, 'a') },
      { key: key(2), value: order(2, 'b') },
      { key: key(1), value: order(1, 'c') },
      { key: key(2), value: null },
      { key: key(3), value: withNote },
    ];
    const [topic, name] = await sink(messages, {
      'insert.mode': 'upsert',
      'pk.mode': 'record_key',
      'delete.enabled': 'true',
      'auto.create': 'true',
      'auto.evolve': 'add',
    });
    await untilRows(`select id, name, note from ${topic} order by id`, [
      ['1', 'c', null],
      ['3', null, 'n'],
    ]);
    await fixture.kafka.produce(topic, [{ key: key(3), value: null }]);
    await untilRows(`select id from ${topic}`, [['1']]);
    await fixture.sluice.rest.untilState(name, 'RUNNING', 1);
    await fixture.sluice.rest.delete(`/connectors/${name}`);
  });

  it('without schemas are maps with a column per key, in a table named by table.name.format', async () => {
    await fixture.sql.run('create table copy_of_maps (id int8 primary key, v float8, tags jsonb, seen text)');
    const messages = [{ value: '{"id":9007199254740993,"v":1.5,"tags":["a",{"b":1}]}' }, { value: '{"id":2,"v":3}' }];
    const [, name] = await sink(messages, {
      'value.converter.schemas.enable': 'false',
      'table.name.format': 'public.copy_of_maps',
      'pk.mode': 'record_value',
      'pk.fields': 'id',
      'insert.mode': 'upsert',
    });
    await untilRows('select * from copy_of_maps order by id', [
      ['2', '3', null, null],
      ['9007199254740993', '1.5', '["a", {"b": 1}]', null],
    ]);
    await fixture.sluice.rest.delete(`/connectors/${name}`);
  });

  it('keyed by topic, partition and offset, with selected fields, are stored once even if redelivered', async () => {
    const secret: FieldJson = ['secret', 'string'];
    const value = (id: number) => envelope([ID, secret, ['n', 'int32']], { id, secret: 's', n: id * 2 });
    const options = {
      ...STRUCTS,
      'insert.mode': 'upsert',
      'pk.mode': 'kafka',
      'auto.create': 'true',
      'fields.exclude': 'secret',
      'table.options': 'WITH (fillfactor=70)',
    };
    const topic = await fixture.topicOf([{ value: value(1) }, { value: value(1) }]);
    // The second sink reads all of it again.
    for (const each of [await fixture.start(topic, options), await fixture.start(topic, options)]) {
      await fixture.done(each, 2);
    }
    assert.deepEqual(await fixture.sql.rows(`select * from ${topic} order by __connect_offset`), [
      [topic, '0', '0', '1', '2'],
      [topic, '0', '1', '1', '2'],
    ]);
    assert.deepEqual(
      (await fixture.columnsOf(topic)).map(([column]) => column),
      ['__connect_topic', '__connect_partition', '__connect_offset', 'id', 'n'],
    );
  });

  it('with insert.mode=update change existing rows and insert none', async () => {
    await fixture.sql.run('create table stock (id int8 primary key, name text, place text)');
    await fixture.sql.run(`insert into stock values (1, 'a', 'x'), (2, 'b', 'y')`);
    const name = await fixture.start(
      await fixture.topicOf([1, 3, 1].map((id, at) => ({ value: order(id, String(at)) }))),
      {
        ...STRUCTS,
        'insert.mode': 'update',
        'pk.mode': 'record_value',
        'pk.fields': 'id',
        'table.name.format': 'stock',
      },
    );
    await fixture.done(name, 3);
    assert.deepEqual(await fixture.sql.rows('select * from stock order by id'), [
      ['1', '2', 'x'],
      ['2', 'b', 'y'],
    ]);
  });

  it('that are not structs, or have an existing key, go to the dead-letter topic with the reason', async () => {
    await fixture.sql.run('create table strict (id int8 primary key, name text not null)');
    const dlq = uniqueName('dlq');
    const text = JSON.stringify({ schema: { type: 'string', optional: false }, payload: 'no struct' });
    const messages = [order(1, 'a'), text, order(1, 'again'), order(2, null), order(3, 'c')].map((value) => ({
      value,
    }));
    const [, name] = await sink(messages, {
      'table.name.format': 'strict',
      ...keepingLetters(dlq),
    });
    const dead = await fixture.kafka.read(dlq, ({ length }) => length >= 3);
    const reasons = dead.map(({ headers }) =>
      String(headers.find(({ key: header }) => header === '__connect.errors.exception.message')?.value),
    );
    assert.deepEqual(
      dead.map(({ value }) => value?.toString()),
      [messages[1], messages[2], messages[3]].map((m) => m?.value),
    );
    assert.match(reasons[0] ?? '', /single value of type string: protocol\.type=struct requires structs/);
    assert.match(reasons[1] ?? '', /duplicate key/);
    assert.match(reasons[2] ?? '', /name.*does not accept NULL/);
    await untilRows('select id, name from strict order by id', [
      ['1', 'a'],
      ['3', 'c'],
    ]);
    await fixture.sluice.rest.untilState(name, 'RUNNING', 1);
    await fixture.sluice.rest.delete(`/connectors/${name}`);
  });

  it('are refused at validation if options contradict each other', async () => {
    const errors = async (more: Record<string, string>): Promise<string[]> => {
      const config = sinkConfig(fixture.db, { ...STRUCTS, name: 'x', topics: 't', ...more });
      const answer = await fixture.sluice.rest.put<{ configs: { value: { name: string; errors: string[] } }[] }>(
        '/connector-plugins/DbSinkConnector/config/validate',
        config,
      );
      return answer.body.configs.flatMap(({ value }) => value.errors);
    };
    const prefix = (name: string): string => `Invalid value for configuration ${name}: `;
    assert.deepEqual(await errors({ 'insert.mode': 'upsert' }), [
      `${prefix('pk.mode')}insert.mode=upsert finds rows by their key: set it to record_key, record_value or kafka`,
    ]);
    assert.deepEqual(await errors({ 'delete.enabled': 'true', 'pk.mode': 'record_value' }), [
      `${prefix('delete.enabled')}deletions require pk.mode=record_key, or record_value with pk.fields, not record_value`,
    ]);
    assert.deepEqual(await errors({ 'pk.mode': 'kafka', 'pk.fields': 'a,b' }), [
      `${prefix('pk.fields')}pk.mode=kafka requires three names, for topic, partition and offset, or none, not 2`,
    ]);
    assert.deepEqual(await errors({ 'table.name.format': 'x_${table}' }), [
      `${prefix('table.name.format')}unknown placeholder \${table}; supported are \${topic} and \${source.FIELD}`,
    ]);
    assert.deepEqual(await errors({ 'insert.mode': 'UPSERT', 'pk.mode': 'kafka' }), []);
  });
});
