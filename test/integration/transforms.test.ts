import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConsumedRecord } from '../../src/kafka/api.ts';
import { keepingLetters, sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const TRANSFORMS = 'org.apache.kafka.connect.transforms';

function headerOf(record: ConsumedRecord | undefined, name: string): string {
  return String(record?.headers.find(({ key }) => key === name)?.value);
}

describe('transformations on the way', function () {
  let sluice: WorkerProcess;
  let db: TestDatabase;
  let sql: SqlClient;
  let kafka: KafkaTraffic;
  let folder: string;

  before(async () => {
    [sluice, db, kafka, folder] = await Promise.all([
      WorkerProcess.start({ properties: { 'offset.flush.interval.ms': '500' } }),
      database('transforms'),
      KafkaTraffic.shared(),
      mkdtemp(join(tmpdir(), 'sluice-transforms-')),
    ]);
    sql = new SqlClient(db);
  });

  after(async () => {
    await sluice.discard();
    await sql.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('reach the rows of a sink; offsets of filtered records are committed, and records that cannot be transformed are dead letters', async () => {
    const topic = uniqueName('raw-meters');
    const dlq = uniqueName('raw-meters-dlq');
    const name = uniqueName('transformed');
    const required = (name: string, type: string) => ({ field: name, type, optional: false });
    const fields = [required('id', 'int64'), required('power', 'string'), required('secret', 'string')];
    const meter = (id: number, power: string) =>
      JSON.stringify({ schema: { type: 'struct', optional: false, fields }, payload: { id, power, secret: 'x' } });
    const values = [meter(1, '1.5'), null, meter(2, 'much'), meter(3, '2'), null];
    await kafka.createTopic(topic);
    await kafka.produce(
      topic,
      values.map((value) => ({ value })),
    );
    await sql.run('create table meters (id int8 primary key, watts float8, origin text, seen timestamptz)');
    await sluice.rest.create(
      name,
      sinkConfig(db, {
        topics: topic,
        'protocol.type': 'struct',
        'insert.mode': 'upsert',
        'pk.mode': 'record_value',
        'pk.fields': 'id',
        'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
        ...keepingLetters(dlq),
        predicates: 'empty,meters',
        'predicates.empty.type': 'RecordIsTombstone',
        'predicates.meters.type': `${TRANSFORMS}.predicates.TopicNameMatches`,
        'predicates.meters.pattern': 'meters',
        transforms: 'drop,route,names,types,seen,never',
        'transforms.drop.type': 'Filter',
        'transforms.drop.predicate': 'empty',
        'transforms.route.type': 'RegexRouter',
        'transforms.route.regex': 'raw-(?<kind>[a-z]+)-.*',
        'transforms.route.replacement': '${kind}',
        'transforms.names.type': `${TRANSFORMS}.ReplaceField$Value`,
        'transforms.names.exclude': 'secret',
        'transforms.names.renames': 'power:watts',
        'transforms.types.type': `${TRANSFORMS}.Cast$Value`,
        'transforms.types.spec': 'watts:float64',
        'transforms.seen.type': `${TRANSFORMS}.InsertField$Value`,
        'transforms.seen.timestamp.field': 'seen',
        'transforms.seen.static.field': 'origin',
        'transforms.seen.static.value': 'plant',
        'transforms.never.type': `${TRANSFORMS}.MaskField$Value`,
        'transforms.never.fields': 'origin',
        'transforms.never.predicate': 'meters',
        'transforms.never.negate': 'true',
      }),
    );
    const rows = () => sql.rows("select id, watts, origin, seen > now() - interval '1 hour' from meters order by id");
    const expected = [
      ['1', '1.5', 'plant', 't'],
      ['3', '2', 'plant', 't'],
    ];
    await until(async () => (await rows()).length === 2, 'two rows are stored');
    assert.deepEqual(await rows(), expected);
    await until(async () => (await kafka.committed(`connect-${name}`)) === values.length, 'all offsets are committed');
    const [dead, ...more] = await kafka.read(dlq, ({ length }) => length >= 1);
    assert.deepEqual(more, []);
    assert.equal(dead?.value?.toString(), values[2]);
    assert.equal(headerOf(dead, '__connect.errors.stage'), 'TRANSFORMATION');
    assert.equal(headerOf(dead, '__connect.errors.class.name'), `${TRANSFORMS}.Cast$Value`);
    assert.equal(
      headerOf(dead, '__connect.errors.exception.message'),
      'Value (much) was out of range for requested data type',
    );
    await sluice.rest.untilState(name, 'RUNNING', 1);
    await sluice.rest.delete(`/connectors/${name}`);
  });

  it('reach the topics of a source, and dropped lines are not read again', async () => {
    const file = join(folder, 'lines.txt');
    const topic = uniqueName('lines');
    const name = uniqueName('routed');
    const day = new Date().toISOString().slice(0, 10).replaceAll('-', '.');
    await writeFile(file, 'one\ntwo\n');
    const config = {
      'connector.class': 'FileStreamSource',
      file,
      topic,
      'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
      'value.converter.schemas.enable': 'false',
      'topic.creation.default.partitions': '1',
      'topic.creation.default.replication.factor': '1',
      transforms: 'wrap,mark,route',
      'transforms.wrap.type': `${TRANSFORMS}.HoistField$Value`,
      'transforms.wrap.field': 'line',
      'transforms.mark.type': 'InsertHeader',
      'transforms.mark.header': 'version',
      'transforms.mark.value.literal': '3',
      'transforms.route.type': 'TimestampRouter',
      'transforms.route.topic.format': '${topic}_${timestamp}',
      'transforms.route.timestamp.format': 'yyyy.MM.dd',
    };
    await sluice.rest.create(name, config);
    const records = await kafka.read(`${topic}_${day}`, ({ length }) => length >= 2);
    assert.deepEqual(
      records.map(({ value }) => value?.toString()),
      ['{"line":"one"}', '{"line":"two"}'],
    );
    assert.equal(headerOf(records[0], 'version'), '3');
    await until(async () => (await positionOf(name)) === 8, 'the position after both lines is stored');
    await sluice.rest.put(`/connectors/${name}/config`, {
      ...config,
      transforms: 'drop',
      'transforms.drop.type': 'Filter',
    });
    await sluice.rest.untilState(name, 'RUNNING', 1);
    await writeFile(file, 'three\n', { flag: 'a' });
    await until(async () => (await positionOf(name)) === 14, 'the position after the dropped line is stored');
    await sluice.rest.delete(`/connectors/${name}`);
  });

  it('that name no declared predicate fail the task, with the reason in its trace', async () => {
    const name = uniqueName('undeclared');
    await sluice.rest.create(name, {
      'connector.class': 'FileStreamSource',
      file: join(folder, 'none.txt'),
      topic: 'none',
      transforms: 'drop',
      'transforms.drop.type': 'Filter',
      'transforms.drop.predicate': 'missing',
    });
    await until(async () => (await sluice.rest.status(name)).tasks[0]?.state === 'FAILED', 'the task has failed');
    const status = await sluice.rest.status(name);
    assert.match(
      status.tasks[0]?.trace ?? '',
      /ConfigException: The transform drop names the predicate missing, which is not in predicates/,
    );
    await sluice.rest.delete(`/connectors/${name}`);
  });

  async function positionOf(name: string): Promise<number | undefined> {
    const answer = await sluice.rest.get<{ offsets: { offset: { position: number } }[] }>(
      `/connectors/${name}/offsets`,
    );
    return answer.body.offsets[0]?.offset.position;
  }
});
