import { setTimeout as delay } from 'node:timers/promises';
import { sinkConfig } from './connectors.ts';
import type { KafkaTraffic } from './kafka-traffic.ts';
import { TcpProxy } from './proxy.ts';
import { uniqueName, type TestDatabase } from './services.ts';
import { assertEachOnce, createTable, line, SHORT_SESSION } from './sink-kills.ts';
import { SqlClient } from './sql-client.ts';
import { until } from './until.ts';
import type { WorkerProcess } from './worker-process.ts';

const ROWS = 10_000;

export interface SilenceOptions {
  readonly worker: WorkerProcess;
  readonly db: TestDatabase;
  readonly kafka: KafkaTraffic;
  readonly silentMs: number;
}

/**
 * While rows flow through an exactly-once sink, the network to its database passes nothing on for some time, and then
 * loses what was on its way. Rejects unless the table, which has no key, then holds each row once.
 */
export async function silenceNetwork({ worker, db, kafka, silentMs }: SilenceOptions): Promise<void> {
  const [sql, proxy] = [new SqlClient(db), await TcpProxy.start(db)];
  try {
    const name = uniqueName('silent');
    await kafka.createTopic(name, 4);
    await createTable(sql, 'silent', false);
    const config = {
      topics: name,
      'protocol.type': 'line_lp',
      'timestamp.precision': 'ms',
      delivery: 'exactly-once',
      'batch.size': '200',
      'connection.attempts': '100',
      'connection.backoff.ms': '100',
      ...SHORT_SESSION,
    };
    await worker.rest.create(name, sinkConfig({ ...db, host: '127.0.0.1', port: proxy.port }, config));
    const producing = produce(kafka, name);
    const arrived = (rows: number) =>
      until(async () => (await sql.number('select count(*) from silent')) >= rows, `${String(rows)} rows`, {
        timeoutMs: 60_000,
      });
    await arrived(1000);
    proxy.stall();
    await Promise.all([producing, delay(silentMs)]);
    proxy.cut();
    proxy.pass();
    await arrived(ROWS);
    await until(async () => (await kafka.committed(`connect-${name}`)) === ROWS, 'all is committed');
    await assertEachOnce(sql, 'silent', ROWS);
    await worker.rest.untilState(name, 'RUNNING', 1);
  } finally {
    await proxy.close();
    await sql.close();
  }
}

async function produce(kafka: KafkaTraffic, topic: string): Promise<void> {
  for (let from = 0; from < ROWS; from += 500) {
    await kafka.produce(
      topic,
      Array.from({ length: 500 }, (_, index) => line('silent', from + index)),
    );
    await delay(50);
  }
}
