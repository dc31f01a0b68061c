import assert from 'node:assert/strict';
import { keepingLetters, sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerCluster } from '../support/worker-cluster.ts';

const LETTERS = 1200;
/** Letters per second: it lasts until its worker has been drained, and the next one killed. */
const RATE = 120;
const TABLE = 'moved';

interface Replay {
  readonly id: number;
  readonly state: string;
  readonly read: number;
  readonly selected: number;
  readonly delivered: number;
  readonly failed: number;
  readonly reason: string | null;
}

describe('a replay of dead letters on two workers', function () {
  let cluster: WorkerCluster;
  let db: TestDatabase;
  let sql: SqlClient;
  const name = uniqueName('moving');

  before(async () => {
    db = await database('moving');
    sql = new SqlClient(db);
    const [kafka, started] = await Promise.all([
      KafkaTraffic.shared(),
      WorkerCluster.start(2, {
        'offset.flush.interval.ms': '200',
        'session.timeout.ms': '6000',
        'heartbeat.interval.ms': '1000',
        'scheduled.rebalance.max.delay.ms': '0',
      }),
    ]);
    cluster = started;
    await sql.run(
      `create table ${TABLE} (ts timestamptz(3), n int8 constraint none check (n < 0), site varchar(20))`,
      `comment on column ${TABLE}.site is 'sluice:primary-tag'`,
    );
    await kafka.createTopic(name, 1);
    const lines = Array.from(
      { length: LETTERS },
      (_, n) => `${TABLE},site=a n=${String(n)}i ${String(1_700_000_000_000 + n)}`,
    );
    await kafka.produce(
      name,
      lines.map((value) => ({ value })),
    );
    await cluster.rest(0).create(
      name,
      sinkConfig(db, {
        topics: name,
        'protocol.type': 'line_lp',
        'timestamp.precision': 'ms',
        delivery: 'exactly-once',
        ...keepingLetters(uniqueName('dead')),
      }),
    );
    await until(async () => (await kafka.committed(`connect-${name}`)) >= LETTERS, 'all records are dead letters');
  });

  after(async () => {
    await cluster.discard();
    await sql.close();
  });

  const path = `/connectors/${name}/dead-letters/replay`;
  const stored = async () => Number((await sql.rows(`select count(*) from ${TABLE}`))[0]?.[0]);
  const owner = async (asked: number) => (await cluster.places(name, asked))?.[0];

  it('continues with the other one when its worker is drained, and again when that one is killed: each row once, each letter counted once', async () => {
    await sql.run(`alter table ${TABLE} drop constraint none, add constraint uneven check (n % 10 <> 0)`);
    const first = await until(() => owner(0), 'the connector runs');
    const second = 1 - first;
    const begun = await cluster.rest(second).post<Replay>(path, { rate: RATE });
    assert.equal(begun.status, 201, JSON.stringify(begun.body));
    await until(async () => (await stored()) > 0, 'rows come from the first worker');

    const drained = `/cluster/workers/${new URL(cluster.worker(first).url).host}/drain`;
    assert.equal((await cluster.rest(second).put(drained)).status, 202);
    await until(async () => (await owner(second)) === second, 'the other worker has the connector');
    const moved = await stored();
    await until(async () => (await stored()) > moved, 'rows come from the second worker');
    assert.ok((await stored()) < (LETTERS * 8) / 10, 'it is killed in the midst');
    await cluster.rest(second).delete(drained);
    await cluster.worker(second).kill();

    const replay = await until(
      async () => {
        const { status, body } = await cluster.rest(first).get<Replay>(`${path}/${String(begun.body.id)}`);
        return status === 200 && body.state !== 'RUNNING' ? body : undefined;
      },
      'the first worker has ended the replay',
      { timeoutMs: 90_000 },
    );
    const { state, read, selected, delivered, failed, reason } = replay;
    const refused = LETTERS / 10;
    assert.deepEqual(
      [state, read, selected, delivered, failed],
      ['DONE', LETTERS, LETTERS, LETTERS - refused, refused],
      reason ?? '',
    );
    const rows = await sql.rows(`select count(*), count(distinct n) from ${TABLE}`);
    assert.deepEqual(rows[0]?.map(Number), [LETTERS - refused, LETTERS - refused]);
    const page = await (await fetch(`${cluster.worker(first).url}/metrics`)).text();
    assert.match(page, new RegExp(`sluice_replay_running\\{connector="${name}"\\} 0`));
    assert.match(page, new RegExp(`sluice_replay_letters_total\\{connector="${name}",outcome="delivered"\\} [1-9]`));
  });
});
