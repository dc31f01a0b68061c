import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { sinkConfig, sourceConfig } from './connectors.ts';
import type { KafkaTraffic } from './kafka-traffic.ts';
import { onServer, ownPostgres, uniqueName } from './services.ts';
import { assertEachOnce, createTable, line } from './sink-kills.ts';
import { SqlClient } from './sql-client.ts';
import { until } from './until.ts';
import type { WorkerProcess } from './worker-process.ts';

const SINK_ROWS = 20_000;
const SOURCE_ROWS = 1_100;

export interface OutageOptions {
  readonly worker: WorkerProcess;
  readonly kafka: KafkaTraffic;
  readonly outageMs: number;
}

interface Message {
  readonly data: readonly { readonly n: number }[];
}

/**
 * Stops the database of a sink and of a source for some time, while the sink is writing rows. Rejects unless each row
 * is then stored and sent once and both connectors run. The source has its default settings; the sink has enough
 * retries for the outage. Resolves with the milliseconds from the restart of the database until all rows have arrived.
 */
export async function stopDatabase({ worker, kafka, outageMs }: OutageOptions): Promise<number> {
  const postgres = await ownPostgres();
  const db = onServer(postgres, 'postgres');
  const [before, after] = [new SqlClient(db), new SqlClient(db)];
  const [sink, source] = [uniqueName('outage-sink'), uniqueName('outage-source')];
  const sourceTopic = `${source}-${db.database}-t-json_db`;
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => line('readings', from + index));
  try {
    await createTable(before, 'readings', true);
    await before.run(
      'create table t (ts timestamptz primary key, n int8)',
      `insert into t select timestamptz '2026-01-01 00:00:00Z' + i * interval '1 ms', i from generate_series(0, 999) i`,
    );
    await kafka.createTopic(sink, 4);
    const formats = { 'protocol.type': 'line_lp', 'timestamp.precision': 'ms' };
    const patience = { 'max.retries': '1000', 'retry.backoff.ms': '200' };
    await worker.rest.create(sink, sinkConfig(db, { topics: sink, 'tasks.max': '2', ...formats, ...patience }));
    await worker.rest.create(
      source,
      sourceConfig(db, { 'topic.prefix': source, 'table.include': 't', 'poll.interval.ms': '500' }),
    );
    await kafka.texts(sourceTopic, 1000);
    await kafka.produce(sink, lines(0, SINK_ROWS / 2));
    await until(async () => (await before.number('select count(*) from readings')) > 0, 'rows flow');
    await postgres.stop();
    await kafka.produce(sink, lines(SINK_ROWS / 2, SINK_ROWS));
    await delay(outageMs);
    await postgres.start();
    const startedMs = performance.now();
    await after.run(`insert into t select now() - i * interval '1 ms', 5000 + i from generate_series(0, 99) i`);
    await until(
      async () => (await after.number('select count(*) from readings')) >= SINK_ROWS,
      'the rows of the sink arrived',
      { timeoutMs: 60_000 },
    );
    const texts = await kafka.texts(sourceTopic, SOURCE_ROWS);
    const tookMs = performance.now() - startedMs;
    await assertEachOnce(after, 'readings', SINK_ROWS);
    const numbers = texts.flatMap((text) => (JSON.parse(text) as Message).data.map(({ n }) => n));
    assert.deepEqual([numbers.length, new Set(numbers).size], [SOURCE_ROWS, SOURCE_ROWS], 'records of the source');
    await worker.rest.untilState(sink, 'RUNNING', 2);
    await worker.rest.untilState(source, 'RUNNING', 1);
    return tookMs;
  } finally {
    for (const name of [sink, source]) await worker.rest.delete(`/connectors/${name}`);
    await Promise.all([before.close(), after.close()]);
    await postgres.discard();
  }
}
