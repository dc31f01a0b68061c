import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { keepingLetters } from '../support/connectors.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { builtCli } from '../support/worker-build.ts';
import { SinkFixture } from '../integration/sink-fixture.ts';

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
    readonly replayed: number;
    readonly examples: readonly { readonly attempt: number; readonly replay?: number; readonly origin: unknown }[];
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
      ...keepingLetters(uniqueName('dead')),
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

  it('group by group, each row once without a key, after the table was fixed', async () => {
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
    // N5: what was replayed stays in the topic, with a mark.
    const after = await ask<Groups>('GET', path);
    const marks = after.groups.map(({ sqlstate, count, replayed, examples }) => [
      ...[sqlstate, count, replayed],
      examples[0]?.replay,
    ]);
    assert.deepEqual(marks, [
      ['23514', 3, 3, 1],
      [undefined, 1, 0, undefined],
    ]);
    const left = () => fixture.sql.rows(`select 1 from sluice_offsets where consumer_group like '%-replay-%'`);
    await until(async () => (await left()).length === 0, 'the offsets of the replay are removed');
  });

  it('through another chain of transforms, and records that fail again have the number of their attempt', async () => {
    const { table, path } = await sinkWithLetters(
      (of) => [line(of, 1), line(of, 100), line(of, 100, 'b'), line(of, 101, 'c')],
      { letters: 3, isKeyed: true },
    );
    const failing = await ask<Replay>('POST', `${path}/replay`, { selection: { filter: { table } } }, 201);
    const failed = await ended(path, failing);
    assert.deepEqual(counts(failed), ['DONE', 3, 0, 0, 3], 'letters that the replay has written are not read by it');
    const { groups } = await ask<Groups>('GET', path);
    assert.equal(groups[0]?.count, 6);
    const offsets = [{ partition: 0, from: 3 }];
    const transforms = {
      transforms: 'reroute',
      'transforms.reroute.type': 'org.apache.kafka.connect.transforms.RegexRouter',
      'transforms.reroute.regex': '.*',
      'transforms.reroute.replacement': 'elsewhere',
    };
    await fixture.sql.run(`alter table ${table} drop constraint small, add constraint small check (n < 101)`);
    const begun = await ask<Replay>('POST', `${path}/replay`, { selection: { offsets }, transforms }, 201);
    const replay = await ended(path, begun);
    assert.deepEqual([replay.id, ...counts(replay)], [2, 'DONE', 3, 2, 0, 1], replay.reason ?? '');
    const rows = await fixture.sql.rows(`select n from ${table} order by n, site`);
    assert.deepEqual(rows.flat().map(Number), [1, 100, 100]);
    const { records } = await ask<{ records: { letter: { attempt: number; origin: { offset: number } } }[] }>(
      'POST',
      `${path}/preview`,
      { selection: {} },
    );
    const attempts = records.map(({ letter }) => [letter.origin.offset, letter.attempt]);
    assert.deepEqual(attempts, [...[1, 2, 3].map((n) => [n, 0]), ...[1, 2, 3].map((n) => [n, 1]), [3, 2]]);
  });

  it('by sluice dead-letters, which follows a replay to its end', async () => {
    const { table, connector } = await sinkWithLetters((of) => [line(of, 100), line(of, 101), 'no { line'], {
      letters: 3,
      isKeyed: true,
    });
    const cli = await builtCli();
    const run = async (...args: string[]) => {
      const all = [cli, 'dead-letters', connector, ...args, '--url', fixture.sluice.rest.url];
      const child = spawn(process.execPath, all);
      let printed = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
      }
      const [code] = (await once(child, 'close')) as [number];
      return { code, printed };
    };
    const groups = await run();
    assert.equal(groups.code, 0, groups.printed);
    const [, group = ''] = /^([0-9a-f]{12}) +2 {2}TASK_PUT {2}23514 {2}/m.exec(groups.printed) ?? [];
    assert.match((await run('preview', '--group', group)).printed, / 2 {2}fails with the same fault\n/);
    await fixture.sql.run(`alter table ${table} drop constraint small`);
    const replayed = await run('replay', '--group', group, '--follow');
    assert.match(replayed.printed, /replay 1 DONE, 100 % read, 2 records, 2 delivered, 0 failed again\n$/);
    assert.equal(replayed.code, 0);
    const again = await run('replay', '--selection', '{"filter":{"message":"line"}}', '--follow', '--json');
    assert.equal(again.code, 2, again.printed);
    assert.equal((JSON.parse(again.printed) as Replay).failed, 1);
    assert.match((await run('status', '--id', '1')).printed, /^replay 1 DONE/);
    const marked = await run();
    assert.match(marked.printed, /^[0-9a-f]{12} +2 {2}TASK_PUT {2}23514 .*\(2 replayed\)$/m, 'N5');
    const unknown = await run('replay', '--group', '000000000000', '--follow');
    assert.deepEqual([unknown.code, unknown.printed.includes('has no records of group 000000000000')], [1, true], 'N4');
    const wrong = await run('replay', '--transforms', '/no/such/file.json');
    assert.deepEqual([wrong.code, wrong.printed.includes('Cannot read')], [1, true]);
  });

  const many = 600;

  it('at a bounded rate, one replay at a time, until it is stopped', async () => {
    const { table, path } = await sinkWithLetters((of) => Array.from({ length: many }, (_, n) => line(of, 100 + n)), {
      letters: many,
      isKeyed: true,
    });
    await fixture.sql.run(`alter table ${table} drop constraint small`);
    const begun = await ask<Replay>('POST', `${path}/replay`, { rate: 20 }, 201);
    const { message } = await ask<{ message: string }>('POST', `${path}/replay`, {}, 409);
    assert.match(message, /Replay 1 of connector .* is running/);
    const one = `${path}/replay/${String(begun.id)}`;
    await until(async () => (await ask<Replay>('GET', one)).delivered > 0, 'some letters are delivered');
    const stopped = await ask<Replay>('DELETE', one);
    assert.equal(stopped.state, 'STOPPED');
    const stored = async () => Number((await fixture.sql.rows(`select count(*) from ${table}`))[0]?.[0]);
    const count = await stored();
    assert.ok(
      count < many && count >= stopped.delivered,
      `${String(count)} rows, ${String(stopped.delivered)} delivered`,
    );
    const [next] = stopped.partitions;
    const rest = { selection: { offsets: [{ partition: 0, from: next?.next }] }, rate: 100_000 };
    assert.equal((await ended(path, await ask<Replay>('POST', `${path}/replay`, rest, 201))).state, 'DONE');
    assert.equal(await stored(), many);
    const { replays } = await ask<{ replays: Replay[] }>('GET', `${path}/replays`);
    assert.deepEqual(
      replays.map(({ id, state }) => [id, state]),
      [
        [2, 'DONE'],
        [1, 'STOPPED'],
      ],
    );
  });

  it('continues after the worker was killed, each row once, and every letter is counted once', async () => {
    const { table, path } = await sinkWithLetters((of) => Array.from({ length: many }, (_, n) => line(of, 100 + n)), {
      letters: many,
      options: { delivery: 'exactly-once' },
    });
    await fixture.sql.run(`alter table ${table} drop constraint small, add constraint uneven check (n % 10 <> 0)`);
    const begun = await ask<Replay>('POST', `${path}/replay`, { rate: 150 }, 201);
    const stored = async () => Number((await fixture.sql.rows(`select count(*) from ${table}`))[0]?.[0]);
    for (const before of [0, many / 3]) {
      await until(async () => (await stored()) > before, 'some rows are stored');
      await fixture.sluice.kill();
      assert.ok((await stored()) < (many * 9) / 10, 'it is killed in the midst');
      await fixture.sluice.start();
    }
    const replay = await ended(path, begun);
    assert.deepEqual(counts(replay), ['DONE', many, (many * 9) / 10, 0, many / 10]);
    assert.equal(replay.read, many);
    const rows = await fixture.sql.rows(`select count(*), count(distinct n) from ${table}`);
    assert.deepEqual(rows[0]?.map(Number), [(many * 9) / 10, (many * 9) / 10]);
  });
});
