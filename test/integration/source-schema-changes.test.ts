import assert from 'node:assert/strict';
import { until } from '../support/until.ts';
import { SourceFixture, type RunningSource } from './source-fixture.ts';

interface Message {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly tags: readonly { readonly name: string }[];
  readonly data: readonly Readonly<Record<string, unknown>>[];
}

/** The last record: its columns, its tags and its row. */
function last(source: RunningSource): { columns: string[]; tags: string[]; row: unknown } {
  const { columns, tags, data } = JSON.parse(source.texts().at(-1) ?? '') as Message;
  return {
    columns: columns.map(({ name, type }) => `${name} ${type}`),
    tags: tags.map(({ name }) => name),
    row: data[0],
  };
}

describe('a source whose table changes while it runs', function () {
  let fixture: SourceFixture;

  before(async () => {
    fixture = await SourceFixture.create();
  });
  afterEach(() => fixture.stopAll());
  after(() => fixture.close());

  it('uses the new shape from the first record after any change', async () => {
    await fixture.sql.run(
      'create table shape (ts timestamptz, site varchar(10), n int4, primary key (ts, site))',
      `comment on column shape.site is 'sluice:primary-tag'`,
      `insert into shape values ('2026-01-01 00:00:00Z', 'oslo', 1)`,
    );
    // No look at the tables comes in between: the shape of the rows themselves tells.
    const source = await fixture.start('shape', { 'poll.interval.ms': '400', 'timestamp.delay.ms': '0' });
    await source.untilRows(1);
    const ts = (day: number) => Date.UTC(2026, 0, day);
    const steps: [string[], ReturnType<typeof last>][] = [
      [
        ['alter table shape add added text', `insert into shape values ('2026-01-02', 'oslo', 2, 'new')`],
        {
          columns: ['ts TIMESTAMPTZ', 'n INT4', 'added TEXT'],
          tags: ['site'],
          row: { ts: ts(2), n: 2, added: 'new', site: 'oslo' },
        },
      ],
      [
        [
          'alter table shape add rack varchar(5)',
          `comment on column shape.rack is 'sluice:tag'`,
          `insert into shape values ('2026-01-03', 'oslo', 3, null, 'r1')`,
        ],
        {
          columns: ['ts TIMESTAMPTZ', 'n INT4', 'added TEXT'],
          tags: ['site', 'rack'],
          row: { ts: ts(3), n: 3, added: null, site: 'oslo', rack: 'r1' },
        },
      ],
      [
        [
          'alter table shape alter n type text using n || $$!$$',
          `insert into shape values ('2026-01-04', 'oslo', 'four')`,
        ],
        {
          columns: ['ts TIMESTAMPTZ', 'n TEXT', 'added TEXT'],
          tags: ['site', 'rack'],
          row: { ts: ts(4), n: 'four', added: null, site: 'oslo', rack: null },
        },
      ],
      [
        [
          'alter table shape drop added, drop rack',
          'alter table shape rename n to m',
          `insert into shape values ('2026-01-05', 'oslo', '5')`,
        ],
        { columns: ['ts TIMESTAMPTZ', 'm TEXT'], tags: ['site'], row: { ts: ts(5), m: '5', site: 'oslo' } },
      ],
      [
        ['alter table shape drop constraint shape_pkey', `insert into shape values ('2026-01-06', 'oslo', '6')`],
        { columns: ['ts TIMESTAMPTZ', 'm TEXT'], tags: ['site'], row: { ts: ts(6), m: '6', site: 'oslo' } },
      ],
    ];
    for (const [index, [statements, expected]] of steps.entries()) {
      await fixture.sql.run(...statements);
      await until(
        () =>
          source
            .texts()
            .at(-1)
            ?.includes(`"ts":${String(ts(index + 2))}`),
        'the row is there',
      );
      assert.deepEqual(last(source), expected);
    }
    assert.equal(source.failure, undefined);
    assert.deepEqual(
      [...new Set(source.rows().map((row) => row['ts']))],
      steps.map((_, index) => ts(index + 1)).concat(ts(6)),
    );
  });

  it('requests a reconfiguration when tables are created, dropped or renamed', async () => {
    await fixture.sql.run(
      'create table staying (ts timestamptz primary key)',
      'create table going (ts timestamptz primary key)',
    );
    const source = await fixture.start('staying|going|coming|went');
    for (const change of [
      'create table coming (ts timestamptz primary key)',
      'alter table going rename to went',
      'drop table coming',
    ]) {
      const before = source.reconfigurations;
      await fixture.sql.run(change);
      await until(() => source.reconfigurations > before, `another deal after ${change}`);
    }
    assert.equal(source.failure, undefined);
  });

  it('reads a recreated table from the start, also if it was not running at the time', async () => {
    const create = (type: string) => `create table again (ts timestamptz primary key, n ${type})`;
    await fixture.sql.run(create('int8'), `insert into again values ('2026-03-01', 1)`);
    const source = await fixture.start('again');
    await source.untilRows(1);
    await fixture.sql.run('drop table again');
    await fixture.sql.run(create('text'), `insert into again values ('2025-01-01', 'older')`);
    await source.untilRows(2);
    await source.stop();
    await fixture.sql.run('drop table again', create('bool'), `insert into again values ('2024-01-01', true)`);
    const later = await fixture.start('again', {}, { offsets: source.offsets });
    await later.untilRows(1);
    assert.deepEqual(
      [...source.rows(), ...later.rows()].map(({ n }) => n),
      [1, 'older', true],
    );
  });

  const atSecond = (n: number): string => `timestamptz '2026-01-01' + ${String(n)} * interval '1 s'`;
  const COUNT = 40;

  /** Has a source read row 0, then puts each further row with a transaction of its own, and expects each row once, in order. */
  async function assertEachOnce(source: RunningSource, put: (n: number) => Promise<void>): Promise<void> {
    await source.untilRows(1);
    for (let n = 1; n < COUNT; n++) {
      await put(n);
      await until(() => source.numbers().includes(n), `row ${String(n)} is sent`);
    }
    await source.stop();
    assert.deepEqual(
      source.numbers(),
      Array.from({ length: COUNT }, (_none, n) => n),
    );
  }

  for (const [what, name, partitions] of [
    ['table', 'recreated', ''],
    [
      'partitioned table',
      'recreated_parted',
      ` partition by range (ts);
        create table recreated_early partition of recreated_parted for values from (minvalue) to ('2026-01-01 00:00:20+00');
        create table recreated_late partition of recreated_parted for values from ('2026-01-01 00:00:20+00') to (maxvalue)`,
    ],
  ] as const) {
    it(`sends rows of a ${what} that was created again once, also where they are later than those of the old table`, async () => {
      const create = `create table ${name} (ts timestamptz primary key, n int8)${partitions}`;
      const insert = (n: number) => `insert into ${name} values (${atSecond(n)}, ${String(n)})`;
      await fixture.sql.run(create, insert(0));
      const source = await fixture.start(name, { 'poll.interval.ms': '20' });
      await assertEachOnce(source, (n) =>
        fixture.sql.run(`begin; drop table ${name}; ${create}; ${insert(n)}; commit`),
      );
    });
  }

  it('continues after its position when a view that its query reads is dropped and created again', async () => {
    const create = (n: number) =>
      `create view recreated_seen as select ts, n from (select ${atSecond(0)} + g * interval '1 s' as ts, g::int8 as n
        from generate_series(0, ${String(n)}) g) rows`;
    await fixture.sql.run(create(0));
    const source = await fixture.start('', { query: 'select * from recreated_seen', 'poll.interval.ms': '20' });
    await assertEachOnce(source, (n) => fixture.sql.run(`begin; drop view recreated_seen; ${create(n)}; commit`));
  });

  it('writes unsupported types as text, and warns once per column', async () => {
    await fixture.sql.run(
      `create type mood as enum ('good', 'bad')`,
      'create domain percent as int4 check (value between 0 and 100)',
      'create table odd (ts timestamptz primary key, m mood, p percent, a int4[], net inet, r int4range)',
      `insert into odd values ('2026-01-01', 'good', 7, '{1,2}', '10.0.0.1', '[1,3)')`,
    );
    const source = await fixture.start('odd');
    const [row] = await source.untilRows(1);
    await fixture.sql.run('alter table odd add more int4', `insert into odd values ('2026-01-02', 'bad')`);
    await source.untilRows(2);
    assert.deepEqual(row, { ts: Date.UTC(2026, 0, 1), m: 'good', p: '7', a: '{1,2}', net: '10.0.0.1', r: '[1,3)' });
    const warnings = source.log.filter((line) => line.includes('which the formats do not support'));
    assert.deepEqual(
      warnings.map((line) => /Column (\w+) of table odd has type (\S+),/.exec(line)?.slice(1, 3).join(' ')),
      ['m public.mood', 'p public.percent', 'a integer[]', 'net inet', 'r int4range'],
    );
  });
});
