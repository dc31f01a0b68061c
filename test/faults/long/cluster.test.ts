import assert from 'node:assert/strict';
import { sinkConfig } from '../../support/connectors.ts';
import { KafkaTraffic } from '../../support/kafka-traffic.ts';
import { RequestLoad } from '../../support/request-load.ts';
import { RowLoad } from '../../support/row-load.ts';
import { database, uniqueName, type TestDatabase } from '../../support/services.ts';
import { SqlClient } from '../../support/sql-client.ts';
import { until } from '../../support/until.ts';
import { WorkerCluster } from '../../support/worker-cluster.ts';

const SESSION_MS = 10_000;
const KEY_TTL_MS = 2000;
const PARTITIONS = 6;

/** One table for each sink; the last columns tell when the row was written, by which worker, session and transaction. */
const table = (name: string) => `create table ${name} (
  k_timestamp timestamptz(3) not null, id int8, category varchar(64) not null,
  at timestamptz not null default clock_timestamp(), writer int not null default pg_backend_pid(),
  worker text not null default current_setting('application_name'), written xid8 not null default pg_current_xact_id(),
  primary key (k_timestamp, category))`;

interface ClusterBody {
  readonly is_leader: boolean;
  readonly leader_url: string;
  readonly protocol: string;
  readonly generation: number;
  readonly connectors: readonly string[];
  readonly tasks: readonly string[];
  readonly completed_rebalances: number;
  readonly last_rebalance: { readonly reason: string };
}

interface SessionKeyRecord {
  readonly key: string;
  readonly 'creation-timestamp': number;
}

describe('several workers of one group', function () {
  let cluster: WorkerCluster;
  let kafka: KafkaTraffic;
  let db: TestDatabase;
  let sql: SqlClient;
  const spread = uniqueName('spread');
  const single = uniqueName('single');

  const sink = (topic: string, tasks: number) =>
    sinkConfig(db, {
      'connection.url': `jdbc:db://${db.host}:${String(db.port)}/${db.database}?ApplicationName=\${env:${WorkerCluster.NAME}}`,
      topics: topic,
      'protocol.type': 'line_lp',
      'timestamp.precision': 'ms',
      'tasks.max': String(tasks),
    });
  const rows = (name: string) => sql.number(`select count(*) from ${name}`);
  /** Samples without the id of the worker as a client. */
  const metricsOf = async (worker: number): Promise<ReadonlyMap<string, string>> => {
    const page = (await cluster.rest(worker).get<string>('/metrics')).body;
    return new Map(
      page
        .replaceAll(/\{clientid="[^"]*"\}/g, '')
        .split('\n')
        .map((line) => [line.slice(0, line.lastIndexOf(' ')), line.slice(line.lastIndexOf(' ') + 1)]),
    );
  };
  const arrived = (name: string, count: number) =>
    until(async () => (await rows(name)) === count, `${String(count)} rows in ${name}`);
  /** The longest time without a row written, in milliseconds, between two moments. */
  const longestGap = (name: string, from: Date, to = new Date()) =>
    sql.number(`select coalesce(max(extract(epoch from gap) * 1000), 0)::int from (
      select at - lag(at) over (order by at) as gap from ${name}
      where at between '${from.toISOString()}' and '${to.toISOString()}') gaps`);

  before(async () => {
    [kafka, db] = await Promise.all([KafkaTraffic.shared(), database('cluster')]);
    sql = new SqlClient(db);
    await sql.run(table('spread'), table('single'));
    for (const name of ['spread', 'single'])
      await sql.run(`comment on column ${name}.category is 'sluice:primary-tag'`);
    await Promise.all([kafka.createTopic(spread, PARTITIONS), kafka.createTopic(single)]);
    cluster = await WorkerCluster.start(3, {
      'session.timeout.ms': String(SESSION_MS),
      'scheduled.rebalance.max.delay.ms': '0',
      'inter.worker.key.ttl.ms': String(KEY_TTL_MS),
      'config.providers': 'env',
      'config.providers.env.class': 'org.apache.kafka.common.config.provider.EnvVarConfigProvider',
    });
  });

  after(async () => {
    await cluster.discard();
    await sql.close();
  });

  it('share connectors and tasks, whichever of them received the request', async () => {
    await cluster.rest(0).create(spread, sink(spread, 3));
    await cluster.rest(1).create(single, sink(single, 1));
    const places = [...(await cluster.untilRuns(spread, 3)), ...(await cluster.untilRuns(single, 1))];
    const [a = -1, , , , b = -1] = places;
    const tasks = [...places.slice(1, 4), ...places.slice(5)];
    assert.notEqual(a, b, 'two connectors are on two workers');
    const shares = [0, 1, 2].map((worker) => tasks.filter((place) => place === worker).length).sort();
    assert.deepEqual(shares, [1, 1, 2], 'four tasks on three workers');
    for (const worker of [0, 1, 2]) {
      const names = await until(async () => {
        const { body } = await cluster.rest(worker).get<string[]>('/connectors');
        return body.length === 2 ? body.sort() : undefined;
      }, 'both connectors are seen by all');
      assert.deepEqual(names, [single, spread].sort());
    }
  });

  it('answer every request, and lose none, while workers stop and start', async () => {
    const leaving = (async () => {
      await cluster.worker(2).terminate();
      await cluster.worker(2).start();
    })();
    const load = new RequestLoad(cluster, { connectors: 12, atOnce: 12, asked: () => [0, 1] });
    // All workers have to be there at the end of the load.
    await Promise.all([load.run(), leaving]);
    console.log(`      ${String(load.requests)} requests to two workers while the third stopped and started`);
  });

  it('all apply a logger level that one of them received for the cluster, or only that one does', async () => {
    const logger = 'org.apache.kafka.connect.runtime.WorkerSinkTask';
    const levels = async () => {
      const asked = cluster.workers.map(({ rest }) => rest.get<{ level: string }>(`/admin/loggers/${logger}`));
      return (await Promise.all(asked)).map(({ body }) => body.level);
    };
    const all = cluster.workers.map(() => 'WARN');
    assert.equal((await cluster.rest(1).put(`/admin/loggers/${logger}?scope=cluster`, { level: 'WARN' })).status, 204);
    await until(async () => String(await levels()) === String(all), 'all have it');
    const own = await cluster.rest(1).put(`/admin/loggers/${logger}`, { level: 'ERROR' });
    assert.deepEqual(own.body, [logger]);
    assert.deepEqual(await levels(), all.with(1, 'ERROR'));
    assert.equal((await cluster.rest(0).put(`/admin/loggers/${logger}?scope=cluster`, { level: 'INFO' })).status, 204);
    await until(async () => String(await levels()) === String(all.fill('INFO')), 'all have the next one');
  });

  it('restart tasks of another worker, and refuse a third hop', async () => {
    const [, place = 0] = await cluster.untilRuns(single, 1);
    const other = cluster.rest(place + 1);
    assert.equal((await other.post(`/connectors/${single}/restart`)).status, 204);
    assert.equal((await other.post(`/connectors/${single}/tasks/0/restart`)).status, 204);
    const restarted = await other.post<{ name: string }>(`/connectors/${single}/restart?includeTasks=true`);
    assert.deepEqual([restarted.status, restarted.body.name], [202, single]);
    await cluster.untilRuns(single, 1);
    const refusals = await Promise.all(
      [0, 1, 2].map((index) =>
        cluster
          .rest(index)
          .post<{ message: string }>('/connectors?forward=false', { name: single, config: sink(single, 1) }),
      ),
    );
    const texts = refusals.map(({ status, body }) => `${String(status)} ${body.message}`).sort();
    const conflict = '409 Cannot complete request because of a conflicting operation (e.g. worker rebalance)';
    assert.deepEqual(texts, [conflict, conflict, `409 Connector ${single} already exists`]);
  });

  it('restart the tasks of a connector wherever they are, at one request to any of them', async () => {
    const [, ...places] = await cluster.untilRuns(spread, 3);
    const startsOn = (worker: number) =>
      cluster
        .worker(worker)
        .log.split('\n')
        .filter((line) => line.includes(`"connector":"${spread}"`) && line.includes('Writing line_lp messages')).length;
    const before = [0, 1, 2].map(startsOn);
    const path = `/connectors/${spread}/restart?includeTasks=true`;
    const answer = await cluster.rest(1).post<{ tasks: { state: string }[] }>(path);
    assert.deepEqual([answer.status, answer.body.tasks.map(({ state }) => state)], [202, Array(3).fill('RESTARTING')]);
    for (const worker of [0, 1, 2]) {
      const own = places.filter((place) => place === worker).length;
      const expected = (before[worker] ?? 0) + own;
      await until(
        () => startsOn(worker) === expected,
        `the ${String(own)} tasks of worker ${String(worker)} started again`,
      );
    }
    await cluster.untilRuns(spread, 3);
  });

  it('report the leader and the assignment: at /cluster, in metrics with Connect’s names, in the log', async () => {
    await cluster.settled();
    const views = await Promise.all(
      [0, 1, 2].map(async (worker) => (await cluster.rest(worker).get<ClusterBody>('/cluster')).body),
    );
    const leader = views.find((view) => view.is_leader);
    assert.deepEqual(
      views.map(({ is_leader, leader_url, protocol }) => [is_leader, leader_url, protocol]),
      views.map((view) => [view === leader, leader?.leader_url, 'sessioned']),
    );
    const all = views.flatMap(({ connectors, tasks }) => [...connectors, ...tasks]).sort();
    const expected = [spread, single, ...[0, 1, 2].map((task) => `${spread}-${String(task)}`), `${single}-0`].sort();
    assert.deepEqual(all, expected, 'each connector and task is one worker’s');
    for (const [worker, view] of views.entries()) {
      const samples = await until(
        async () => {
          const all = await metricsOf(worker);
          return Number(all.get('kafka_connect_coordinator_heartbeat_total')) > 0 && all;
        },
        `worker ${String(worker)} sent a heartbeat`,
      );
      const rebalance = 'kafka_connect_worker_rebalance';
      const told = [
        ['kafka_connect_coordinator_assigned_connectors', view.connectors.length],
        ['kafka_connect_coordinator_assigned_tasks', view.tasks.length],
        ['kafka_connect_worker_connector_count', view.connectors.length],
        ['kafka_connect_worker_task_count', view.tasks.length],
        ...view.connectors.map(
          (name) => [`kafka_connect_connector_status{connector="${name}",status="running"}`, 1] as const,
        ),
        [`${rebalance}_epoch`, view.generation],
        [`${rebalance}_completed_rebalances_total`, view.completed_rebalances],
        [`${rebalance}_rebalancing`, 0],
        [`${rebalance}_leader_name{leader_name="${leader?.leader_url ?? ''}"}`, 1],
        [`${rebalance}_connect_protocol{connect_protocol="SESSIONED"}`, 1],
      ] as const;
      for (const [name, value] of told) assert.equal(samples.get(name), String(value), name);
      const shown = [...samples.keys()].filter((name) => name.startsWith('kafka_connect_connector_status{'));
      assert.equal(shown.length, view.connectors.length, 'a worker reports only its own connectors');
      for (const name of ['join_total', 'sync_total']) {
        assert.ok(Number(samples.get(`kafka_connect_coordinator_${name}`)) > 0, name);
      }
      assert.ok(Number(samples.get('kafka_connect_coordinator_last_heartbeat_seconds_ago')) >= 0);
      // These metrics cover the last minute.
      for (const name of ['rebalance_avg_time_ms', 'rebalance_max_time_ms']) {
        assert.match(samples.get(`${rebalance}_${name}`) ?? '', /^(?:NaN|\d+(?:\.\d+)?)$/, name);
      }
      assert.ok(Number(samples.get(`${rebalance}_time_since_last_rebalance_ms`)) >= 0);
      const generation = `Rebalance: generation ${String(view.generation)}, `;
      const lines = cluster
        .worker(worker)
        .log.split('\n')
        .filter((line) => line.includes(generation));
      assert.equal(lines.length, 1, 'one line for each rebalance');
      assert.match(lines[0] ?? '', /(?:this worker|http:\S+) leads, \d connectors? and \d tasks? here .* because /);
      assert.notEqual(view.last_rebalance.reason, '');
    }
  });

  it('sign with a key that the leader alone replaces when its time is over', async () => {
    const topic = cluster.worker(0).properties['config.storage.topic'] ?? '';
    const keys = async () => {
      const records = (await kafka.all(topic)).filter(({ key }) => key?.toString() === 'session-key');
      return records.map(({ value }) => JSON.parse(value?.toString() ?? '') as SessionKeyRecord);
    };
    const written = await until(
      async () => {
        const all = await keys();
        return all.length >= 3 && all;
      },
      'the key was replaced',
      { everyMs: 500 },
    );
    assert.equal(new Set(written.map(({ key }) => key)).size, written.length, 'each key is another one');
    const times = written.map((record) => record['creation-timestamp']);
    const ages = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    assert.ok(
      ages.every((age) => age >= KEY_TTL_MS),
      `keys were replaced after ${ages.join(', ')} ms`,
    );
  });

  it('continue the work of a killed one soon after its session; no other task pauses for as long', async () => {
    const places = await cluster.untilRuns(spread, 3);
    const [, apart = 0] = await cluster.untilRuns(single, 1);
    const victim = [...places].find((place) => place !== apart) ?? 0;
    const rest = [0, 1, 2].filter((place) => place !== victim);
    const loads = [new RowLoad(kafka, spread, 'spread', PARTITIONS), new RowLoad(kafka, single, 'single', 1)];
    await until(async () => (await rows('spread')) > 100 && (await rows('single')) > 100, 'rows flow');
    const killedAt = new Date();
    await cluster.worker(victim).kill();
    await cluster.untilRuns(spread, 3, rest);
    const runsMs = Date.now() - killedAt.getTime();
    const lateMs = async () =>
      sql.number(`select extract(epoch from (clock_timestamp() - min(last))) * 1000
        from (select max(at) as last from spread group by category) as each`);
    await until(async () => (await lateMs()) < 1000, 'rows of all partitions flow again');
    const flowsMs = Date.now() - killedAt.getTime();
    const gapMs = await longestGap('single', killedAt);
    const [count = 0, countSingle = 0] = await Promise.all(loads.map((load) => load.stop()));
    await Promise.all([arrived('spread', count), arrived('single', countSingle)]);
    console.log(
      `      killed: its tasks run elsewhere after ${String(runsMs)} ms, rows of all its partitions after ${String(flowsMs)} ms; longest gap of an unaffected task ${String(gapMs)} ms`,
    );
    assert.ok(runsMs < 1.5 * SESSION_MS, `its work ran elsewhere after ${String(runsMs)} ms`);
    assert.ok(gapMs < SESSION_MS / 2, `an unaffected task had a gap of ${String(gapMs)} ms`);
    await cluster.worker(victim).start();
  });

  it('are restarted one after the other under load, and every row is stored once', async () => {
    await Promise.all([sql.run('truncate spread'), sql.run('truncate single')]);
    const topics = [spread, single];
    await Promise.all(topics.map((name) => cluster.untilRuns(name, name === spread ? 3 : 1)));
    const before = [await kafka.committed(`connect-${spread}`), await kafka.committed(`connect-${single}`)];
    assert.ok(before.every((offset) => offset > 0));
    const loads = [new RowLoad(kafka, spread, 'spread', PARTITIONS), new RowLoad(kafka, single, 'single', 1)];
    const takenMs: number[] = [];
    for (const index of [0, 1, 2]) {
      const rest = [0, 1, 2].filter((place) => place !== index);
      const stoppedAt = Date.now();
      const ended = cluster.worker(index).terminate();
      await Promise.all(topics.map((name) => cluster.untilRuns(name, name === spread ? 3 : 1, rest)));
      takenMs.push(Date.now() - stoppedAt);
      assert.equal(await ended, 0);
      await cluster.worker(index).start();
    }
    const [count = 0, countSingle = 0] = await Promise.all(loads.map((load) => load.stop()));
    await Promise.all([arrived('spread', count), arrived('single', countSingle)]);
    console.log(
      `      stopped: the work of each ran elsewhere after ${takenMs.join(', ')} ms; ${String(count + countSingle)} rows`,
    );
    assert.ok(
      Math.max(...takenMs) < SESSION_MS,
      `work of stopped workers ran elsewhere after ${takenMs.join(', ')} ms`,
    );
  });

  it('stop their former tasks before these write again, after a suspension', async () => {
    await cluster.settled();
    const places = await cluster.untilRuns(spread, 3);
    await cluster.untilRuns(single, 1);
    const sleeper = places[1] ?? 0;
    const rest = [0, 1, 2].filter((place) => place !== sleeper);
    const pid = cluster.worker(sleeper).pid ?? 0;
    await sql.run('truncate spread');
    const load = new RowLoad(kafka, spread, 'spread', PARTITIONS);
    // All workers with tasks write, and none waits for the others in the consumer group.
    const writing = new Set(places.slice(1)).size;
    const busy = async () => {
      const [[workers, partitions] = []] = await sql.rows(
        `select count(distinct worker), count(distinct category) from spread where at > clock_timestamp() - interval '500 ms'`,
      );
      return Number(workers) === writing && Number(partitions) === PARTITIONS;
    };
    await until(busy, 'rows flow from all partitions, by all workers with tasks');
    process.kill(pid, 'SIGSTOP');
    await cluster.untilRuns(spread, 3, rest, { timeoutMs: 3 * SESSION_MS });
    const own = `worker = '${cluster.nameOf(sleeper)}'`;
    const asleep = await sql.rows(`select distinct writer from spread where ${own}`);
    assert.ok(asleep.length > 0, 'the suspended worker had written');
    // The database may still receive data that the worker wrote before it was suspended; such sessions are not idle.
    const idle = await sql.rows(
      `select pid from pg_stat_activity where state = 'idle' and pid in (${asleep.map(([pid]) => String(pid)).join()})`,
    );
    const wokenAt = new Date().toISOString();
    process.kill(pid, 'SIGCONT');
    await cluster.untilRuns(spread, 3, [0, 1, 2], { asked: sleeper });
    const told = 'All connectors and tasks of this worker stop: ';
    await until(() => cluster.worker(sleeper).log.includes(told), 'it says why it stopped its work');
    const count = await load.stop();
    await arrived('spread', count);
    // It may have been suspended between its last look at the clock and the write: one more write of that session goes out.
    const late = await sql.rows(
      `select writer, count(distinct written), count(*) from spread
      where at > '${wokenAt}' and writer in (${['-1', ...idle.map(([writer]) => String(writer))].join()}) group by writer`,
    );
    assert.ok(
      late.every(([, writes]) => Number(writes) === 1),
      `writes and rows of sessions from before the suspension: ${late.map((each) => each.join(' ')).join(', ')}`,
    );
  });
});
