import assert from 'node:assert/strict';
import { keepingLetters } from '../support/connectors.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { SinkFixture } from './sink-fixture.ts';

interface Group {
  readonly id: string;
  readonly stage: string;
  readonly sqlstate?: string;
  readonly table?: string;
  readonly count: number;
  readonly first: { readonly offset: number };
  readonly last: { readonly offset: number };
  readonly histogram: { readonly from: number; readonly bucketMs: number; readonly counts: readonly number[] };
  readonly examples: readonly { readonly record: unknown; readonly valueHex: string; readonly origin: unknown }[];
}

interface Answer {
  readonly topic: string | null;
  readonly scanned: number;
  readonly hasMore: boolean;
  readonly groups: readonly Group[];
  readonly faults: { readonly recent: readonly { sqlstate?: string; table?: string; record: { offset: number } }[] };
}

describe('why records of a sink were not stored', function () {
  let fixture: SinkFixture;

  before(async () => (fixture = await SinkFixture.create('letters')));
  after(() => fixture.close());

  async function ask<T>(path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${fixture.sluice.rest.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      ...(body === undefined ? {} : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return JSON.parse(text) as T;
  }

  async function table(name: string): Promise<void> {
    await fixture.sql.run(
      `create table ${name} (ts timestamptz(3), n int8 check (n <> 13), site varchar(8), primary key (ts, site))`,
      `comment on column ${name}.site is 'sluice:primary-tag'`,
    );
  }

  const line = (of: string, n: number, site = 'a') =>
    `${of},site=${site} n=${String(n)}i ${String(1_700_000_000_000 + n)}`;

  it('is shown in groups by stage, SQLSTATE, table and column, and the preview knows when the table is fixed', async () => {
    await table('grouped');
    const dead = uniqueName('dead');
    const values = [
      line('grouped', 1),
      line('grouped', 13),
      'no { line',
      line('grouped', 2, 'much_too_long'),
      line('grouped', 13, 'b'),
    ];
    const topic = await fixture.topicOf(values);
    const connector = await fixture.start(topic, {
      'protocol.type': 'line_lp',
      'timestamp.precision': 'ms',
      ...keepingLetters(dead),
    });
    await fixture.done(connector, values.length);
    const path = `/connectors/${connector}/dead-letters`;
    const answer = await ask<Answer>(path);
    assert.deepEqual([answer.topic, answer.scanned, answer.hasMore], [dead, 4, false]);
    const shown = answer.groups.map(({ stage, sqlstate, table: of, count }) => [stage, sqlstate, of, count]);
    assert.deepEqual(shown[0], ['TASK_PUT', '23514', 'grouped', 2]);
    assert.ok(shown.some(([, sqlstate, of, count]) => sqlstate === '22001' && of === 'grouped' && count === 1));
    assert.ok(shown.some(([stage, sqlstate]) => stage === 'TASK_PUT' && sqlstate === undefined));
    const [group] = answer.groups;
    assert.ok(group !== undefined);
    assert.deepEqual(group.examples[0]?.origin, { topic, partition: 0, offset: 1 });
    assert.equal(group.examples[0].valueHex, Buffer.from(values[1] ?? '').toString('hex'));
    assert.equal(
      group.histogram.counts.reduce((sum, count) => sum + count, 0),
      group.count,
    );
    assert.match(JSON.stringify(group.examples[0].record), /grouped,site=a n=13i/);
    assert.equal(answer.faults.recent.length, 4);
    assert.equal((await ask<Answer>(`${path}?limit=1`)).hasMore, true);

    const selection = { group: group.id };
    const outcomes = async () =>
      (await ask<{ records: { outcome: string }[] }>(`${path}/preview`, { selection })).records.map(
        ({ outcome }) => outcome,
      );
    const same = 'fails with the same fault';
    assert.deepEqual(await outcomes(), [same, same]);
    await fixture.sql.run('alter table grouped drop constraint grouped_n_check');
    assert.deepEqual(await outcomes(), ['stored', 'stored']);
    assert.deepEqual((await fixture.sql.rows('select n from grouped')).flat().map(Number), [1]);
  });

  it('is remembered by tasks without a dead-letter topic, also when they have failed', async () => {
    await table('remembered');
    const topic = await fixture.topicOf([1, 13].map((n) => line('remembered', n)));
    const connector = await fixture.start(topic, { 'protocol.type': 'line_lp', 'timestamp.precision': 'ms' });
    await fixture.traceOf(connector);
    const answer = await until(async () => {
      const found = await ask<Answer>(`/connectors/${connector}/dead-letters`);
      return found.faults.recent.length > 0 ? found : undefined;
    }, 'the fault is shown');
    assert.deepEqual([answer.topic, answer.groups], [null, []]);
    const [fault] = answer.faults.recent;
    assert.deepEqual([fault?.sqlstate, fault?.table, fault?.record.offset], ['23514', 'remembered', 1]);
  });
});
