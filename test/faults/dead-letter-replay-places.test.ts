import assert from 'node:assert/strict';
import { keepingLetters } from '../support/connectors.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { SinkFixture } from '../integration/sink-fixture.ts';

const DAY_MS = 86_400_000;
const BEGIN_MS = Date.UTC(2023, 10, 14, 22);
/** The dead-letter topic does not keep the timestamps of records. */
const APPEND_TIME = { 'message.timestamp.type': 'LogAppendTime' };
const TRANSFORM = 'org.apache.kafka.connect.transforms';

/** Records of each partition in one round; as many are refused, those with even offsets. */
const EACH = 8;

interface Sent {
  readonly n: number;
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
}

describe('a replay of dead letters stores records with the places and times that they had (K2)', () => {
  let fixture: SinkFixture;

  before(async () => (fixture = await SinkFixture.create('places')));
  after(() => fixture.close());

  /** Records of two partitions and two days, after `count` earlier ones of each; the tables reject every second value. */
  function records(first: number, count: number): Sent[] {
    return Array.from({ length: 2 * count }, (_, index) => ({
      n: (index % 2 === 0 ? 100 : 0) + 2 * first + index,
      partition: index % 4 < 2 ? 0 : 1,
      offset: first + 2 * Math.floor(index / 4) + (index % 2),
      timestamp: BEGIN_MS + index * Math.floor(DAY_MS / (2 * count)),
    }));
  }

  async function send(topic: string, sent: readonly Sent[]): Promise<void> {
    const schema = { type: 'struct', fields: [{ field: 'n', type: 'int64' }] };
    const messages = sent.map(({ n, partition, timestamp }) => ({
      ...{ partition, timestamp, headers: { lang: 'en' } },
      value: JSON.stringify({ schema, payload: { n } }),
    }));
    await fixture.send(topic, messages);
  }

  async function letters(topic: string, count: number): Promise<void> {
    await fixture.kafka.read(topic, (read) => read.length >= count);
  }

  async function replay(path: string): Promise<void> {
    const { body } = await fixture.sluice.rest.post<{ id: number }>(`${path}/replay`, {});
    const replayed = await until(async () => {
      const one = await fixture.sluice.rest.get<{ state: string; delivered: number; reason: string | null }>(
        `${path}/replay/${String(body.id)}`,
      );
      return one.body.state === 'RUNNING' ? undefined : one.body;
    }, 'the replay has ended');
    assert.deepEqual([replayed.state, replayed.delivered], ['DONE', EACH], replayed.reason ?? '');
  }

  for (const delivery of ['at-least-once', 'exactly-once']) {
    it(`in keys, routes and inserted fields, also when the dead-letter topic was created again, delivery=${delivery}`, async () => {
      const table = uniqueName('placed').replaceAll('-', '_');
      const tables = ['20231114', '20231115'].map((day) => `${table}_${day}`);
      const limit = (action: string) => tables.map((each) => `alter table ${each} ${action}`);
      await fixture.sql.run(
        ...tables.map(
          (each) => `create table ${each} (
            topic text, partition int4, "offset" int8, n int8, in_topic text, in_partition int4, in_offset int8, at timestamptz(3),
            constraint small check (n < 100), primary key (topic, partition, "offset"))`,
        ),
      );
      const topic = await fixture.topicOf([], 2);
      const dead = uniqueName('dead');
      await fixture.kafka.createTopic(dead, 1, APPEND_TIME);
      const connector = await fixture.start(topic, {
        ...keepingLetters(dead),
        ...{ delivery, 'protocol.type': 'struct', 'insert.mode': 'upsert' },
        ...{ 'pk.mode': 'kafka', 'pk.fields': 'topic,partition,offset' },
        'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
        transforms: 'place,name,day',
        'transforms.place.type': `${TRANSFORM}.InsertField$Value`,
        'transforms.place.topic.field': 'in_topic',
        'transforms.place.partition.field': 'in_partition',
        'transforms.place.offset.field': 'in_offset',
        'transforms.place.timestamp.field': 'at',
        'transforms.place.predicate': 'english',
        predicates: 'english',
        'predicates.english.type': `${TRANSFORM}.predicates.HasHeaderKey`,
        'predicates.english.name': 'lang',
        'transforms.name.type': `${TRANSFORM}.RegexRouter`,
        'transforms.name.regex': topic,
        'transforms.name.replacement': table,
        'transforms.day.type': `${TRANSFORM}.TimestampRouter`,
        'transforms.day.topic.format': '${topic}_${timestamp}',
        'transforms.day.timestamp.format': 'yyyyMMdd',
      });
      const path = `/connectors/${connector}/dead-letters`;
      const sent: Sent[] = [];
      for (const first of [0, EACH]) {
        const more = records(first, EACH);
        sent.push(...more);
        if (first > 0) {
          await fixture.kafka.recreateTopic(dead, APPEND_TIME);
          await fixture.sql.run(...limit('add constraint small check (n < 100) not valid'));
        }
        await send(topic, more);
        await fixture.done(connector, sent.length);
        await letters(dead, EACH);
        await fixture.sql.run(...limit('drop constraint small'));
        await replay(path);
      }
      const expected = sent.map(({ n, partition, offset, timestamp }) => {
        const place = [topic, String(partition), String(offset)];
        const day = timestamp < Date.UTC(2023, 10, 15) ? tables[0] : tables[1];
        return [...place, String(n), ...place, String(timestamp), day];
      });
      const rows = await fixture.sql.rows(
        `select topic, partition, "offset", n, in_topic, in_partition, in_offset, (extract(epoch from at) * 1000)::int8, of
         from (${tables.map((each) => `select *, '${each}' as of from ${each}`).join(' union all ')}) all_rows`,
      );
      const byNumber = (a: readonly unknown[], b: readonly unknown[]) => Number(a[3]) - Number(b[3]);
      assert.deepEqual([...rows].sort(byNumber), expected.sort(byNumber));
    });
  }
});
