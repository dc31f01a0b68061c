import assert from 'node:assert/strict';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { SinkFixture } from './sink-fixture.ts';

interface Replay {
  readonly id: number;
  readonly state: string;
  readonly read: number;
  readonly selected: number;
  readonly delivered: number;
  readonly dropped: number;
  readonly failed: number;
  readonly rate: number;
  readonly startedBy: string;
  readonly reason: string | null;
  readonly partitions: readonly { readonly from: number; readonly next: number; readonly end: number }[];
}

interface Groups {
  readonly groups: readonly {
    readonly id: string;
    readonly sqlstate?: string;
    readonly count: number;
    readonly examples: readonly { readonly attempt: number; readonly origin: unknown }[];
  }[];
}

describe('dead letters are replayed', function () {
  let fixture: SinkFixture;

  before(async () => (fixture = await SinkFixture.create('replayed')));
  after(() => fixture.close());

  async function ask<T>(method: string, path: string, body?: unknown, status = 200): Promise<T> {
    const response = await fetch(`${fixture.sluice.rest.url}${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.equal(response.status, status, text);
    return JSON.parse(text) as T;
  }

  const line = (of: string, n: number, site = 'a') =>
    `${of},site=${site} n=${String(n)}i ${String(1_700_000_000_000 + n)}`;

  /** A sink whose table refuses every value from 100 on. */
  async function sinkWithLetters(
    messages: (table: string) => readonly string[],
    {
      letters,
      isKeyed = false,
      options = {},
    }: { letters: number; isKeyed?: boolean; options?: Record<string, string> },
  ): Promise<{ table: string; connector: string; path: string }> {
    const table = uniqueName('replayed').replaceAll('-', '_');
    const key = isKeyed ? ', primary key (ts, site)' : '';
    await fixture.sql.run(
      `create table ${table} (ts timestamptz(3), n int8 constraint small check (n < 100), site varchar(20)${key})`,
      `comment on column ${table}.site is 'sluice:primary-tag'`,
    );
    const values = messages(table);
    const topic = await fixture.topicOf(values);
    const connector = await fixture.start(topic, {
      'protocol.type': 'line_lp',
      'timestamp.precision': 'ms',
      'errors.tolerance': 'all',
      'errors.deadletterqueue.topic.name': uniqueName('dead'),
      'errors.deadletterqueue.topic.replication.factor': '1',
      'errors.deadletterqueue.context.headers.enable': 'true',
      ...options,
    });
    await fixture.done(connector, values.length);
    const path = `/connectors/${connector}/dead-letters`;
    const { groups } = await ask<Groups>('GET', path);
    assert.equal(
      groups.reduce((sum, { count }) => sum + count, 0),
      letters,
    );
    return { table, connector, path };
  }

  async function ended(path: string, { id }: Replay): Promise<Replay> {
    return until(async () => {
      const replay = await ask<Replay>('GET', `${path}/replay/${String(id)}`);
      return replay.state === 'RUNNING' ? undefined : replay;
    }, 'the replay has ended');
  }

  const counts = ({ state, selected, delivered, dropped, failed }: Replay) => [
    state,
    ...[selected, delivered, dropped, failed],
  ];

  it('group by group, each row once without a key, after the table was mended', async () => {
    const { table, path } = await sinkWithLetters(
      (of) => [line(of, 1), ...[100, 101, 102].map((n) => line(of, n)), 'no { line', line(of, 2)],
      { letters: 4, options: { delivery: 'exactly-once' } },
    );
    await fixture.sql.run(`alter table ${table} drop constraint small`);
    const { groups } = await ask<Groups>('GET', path);
    const group = groups.find(({ sqlstate }) => sqlstate === '23514')?.id;
    const begun = await ask<Replay>('POST', `${path}/replay`, { selection: { group }, rate: 5000 }, 201);
    assert.deepEqual([begun.id, begun.state, begun.rate], [1, 'RUNNING', 5000]);
    const replay = await ended(path, begun);
    assert.deepEqual(counts(replay), ['DONE', 3, 3, 0, 0], replay.reason ?? '');
    assert.equal(replay.read, 4);
    assert.deepEqual(
      replay.partitions.map(({ from, next, end }) => [from, next, end]),
      [[0, 4, 4]],
    );
    const rows = await fixture.sql.rows(`select n from ${table} order by n`);
    assert.deepEqual(rows.flat().map(Number), [1, 2, 100, 101, 102]);
    const left = () => fixture.sql.rows(`select 1 from sluice_offsets where consumer_group like '%-replay-%'`);
    await until(async () => (await left()).length === 0, 'the offsets of the replay are removed');
  });
});
