import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { DEBEZIUM, findJavaConnect, JavaWorker } from '../../support/java-worker.ts';
import { KafkaTraffic } from '../../support/kafka-traffic.ts';
import { logSourceConfig } from '../../support/log-source.ts';
import { logStage } from '../../support/log-source-stage.ts';
import type { ConnectRest } from '../../support/rest.ts';
import { broker, uniqueName } from '../../support/services.ts';
import { SqlClient } from '../../support/sql-client.ts';
import { until } from '../../support/until.ts';
import { groupProperties, WorkerProcess } from '../../support/worker-process.ts';

const NAME = 'inventory';
const COUNTERS = 7;
const WRITERS = 3;
const STEP_MS = 3;
/** Changes that each worker must see while it runs. */
const CHANGES_OF_A_TURN = 300;
const SLOW = { timeoutMs: 90_000 };

type Turn = 'Debezium' | 'Sluice';

interface Change {
  readonly op: string;
  readonly before: Readonly<Record<string, number>> | null;
  readonly after: Readonly<Record<string, number>> | null;
}

describe('a connector of Debezium on a Java worker and on this one, in turns, under load', function () {
  const stage = logStage();
  const group = uniqueName('takeover');
  let properties: Record<string, string>;
  let config: Record<string, string>;
  let kafka: KafkaTraffic;
  let java: JavaWorker;
  let sluice: WorkerProcess | undefined;
  let written = 0;

  before(async function () {
    const found = await findJavaConnect(DEBEZIUM);
    if (typeof found === 'string') {
      console.log(`      skipped: no Debezium, ${found}`);
      this.skip();
    }
    const { bootstrapServers } = await broker();
    const json = 'org.apache.kafka.connect.json.JsonConverter';
    properties = {
      'bootstrap.servers': bootstrapServers,
      ...groupProperties(group),
      'key.converter': json,
      'value.converter': json,
      'heartbeat.interval.ms': '500',
      'scheduled.rebalance.max.delay.ms': '0',
      'offset.flush.interval.ms': '500',
    };
    kafka = await KafkaTraffic.shared();
    java = await JavaWorker.create(found, properties);
    await stage.sql.run(
      'create table added (n int primary key)',
      'create table counter (id int primary key, n int not null)',
      'alter table counter replica identity full',
      `insert into counter select i, -1 from generate_series(0, ${String(COUNTERS - 1)}) i`,
    );
    config = logSourceConfig(stage.db, { 'publication.autocreate.mode': 'filtered' });
    config['table.include.list'] = 'public.added,public.counter';
    for (const table of ['added', 'counter']) await kafka.createTopic(topicOf(table));
  });

  after(async () => {
    await Promise.all([java?.discard(), sluice?.discard()]);
  });

  const topicOf = (table: string): string => `${config['topic.prefix'] ?? ''}.public.${table}`;

  const changesOf = async (table: string): Promise<readonly Change[]> => {
    const records = await kafka.all(topicOf(table));
    return records.flatMap(({ value }) => (value === null ? [] : [JSON.parse(value.toString()) as Change]));
  };

  /** Transactions that overlap. Each inserts its number, and writes it to one of the counters, which is never set back. */
  async function load(signal: AbortSignal): Promise<void> {
    const next = async (): Promise<void> => {
      const client = new SqlClient(stage.db);
      try {
        while (!signal.aborted) {
          const n = String(written++);
          await client.run('begin', `insert into added values (${n})`);
          await delay(STEP_MS);
          await client.run(
            `update counter set n = greatest(n + 1, ${n}) where id = ${String(Number(n) % COUNTERS)}`,
            'commit',
          );
        }
      } finally {
        await client.close();
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, next));
  }

  const workerOf = async (turn: Turn): Promise<ConnectRest> => {
    if (turn === 'Debezium') {
      await java.start();
      return java.rest;
    }
    if (sluice === undefined) sluice = await WorkerProcess.start({ properties, readyTimeoutMs: SLOW.timeoutMs });
    else await sluice.start();
    return sluice.rest;
  };

  /** Runs the connector on this worker until it has sent changes of its turn. */
  async function run(turn: Turn, end: 'terminate' | 'kill'): Promise<void> {
    const rest = await workerOf(turn);
    const isNew = (await rest.get(`/connectors/${NAME}`)).status === 404;
    if (isNew) await rest.create(NAME, config);
    await rest.untilState(NAME, 'RUNNING', 1, SLOW);
    const first = written;
    await until(
      async () => (await changesOf('added')).some(({ after }) => (after?.['n'] ?? 0) >= first + CHANGES_OF_A_TURN),
      `${turn} has sent changes of its turn`,
      SLOW,
    );
    await (turn === 'Debezium' ? java : sluice)?.[end]();
  }

  /** Counts the numbers that are missing, and those that occur more than once. */
  async function faults(): Promise<{ readonly lost: number; readonly doubled: number }> {
    const counts = new Map<number, number>();
    for (const { after } of await changesOf('added')) {
      const n = after?.['n'] ?? -1;
      counts.set(n, (counts.get(n) ?? 0) + 1);
    }
    const lost = Array.from({ length: written }, (_, n) => n).filter((n) => !counts.has(n)).length;
    return { lost, doubled: [...counts.values()].filter((count) => count > 1).length };
  }

  /** The updates of each counter form a chain: the row before each of them is the row after its predecessor. */
  async function brokenChains(): Promise<readonly Change[]> {
    const last = new Map<number, number>();
    return (await changesOf('counter')).filter(({ op, before, after }) => {
      const id = after?.['id'] ?? -1;
      const isBroken = op === 'u' && last.has(id) && last.get(id) !== before?.['n'];
      last.set(id, after?.['n'] ?? -1);
      return isBroken;
    });
  }

  async function underLoad(turns: readonly Turn[], end: 'terminate' | 'kill'): Promise<void> {
    const ending = new AbortController();
    const loading = load(ending.signal);
    try {
      for (const turn of turns) await run(turn, end);
    } finally {
      ending.abort();
      await loading;
    }
    const rest = await workerOf('Sluice');
    await rest.untilState(NAME, 'RUNNING', 1, SLOW);
    await until(async () => (await faults()).lost === 0, 'all numbers are in the topic', SLOW);
    await sluice?.terminate();
  }

  it('sends each change once and in order if the workers stop', async function () {
    this.timeout(600_000);
    await underLoad(['Debezium', 'Sluice', 'Debezium', 'Sluice'], 'terminate');
    assert.deepEqual({ ...(await faults()), broken: await brokenChains() }, { lost: 0, doubled: 0, broken: [] });
    console.log(`      ${String(written)} transactions`);
  });

  it('loses no change if the workers are killed', async function () {
    this.timeout(600_000);
    await underLoad(['Debezium', 'Sluice', 'Debezium', 'Sluice'], 'kill');
    const { lost, doubled } = await faults();
    assert.equal(lost, 0);
    console.log(`      ${String(written)} transactions, ${String(doubled)} sent again`);
  });
});
