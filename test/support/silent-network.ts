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
  /**
   * The network works again after this time and has lost the bytes in flight. With `forgotten`, it accepts new
   * connections immediately.
   */
  readonly silentMs: number | 'forgotten';
}

/**
 * Silently interrupts the network to the database of an exactly-once sink while rows flow. Rejects unless the table,
 * which has no key, then contains each row once. Resolves with the milliseconds during which no row arrived.
 */
export async function silenceNetwork({ worker, db, kafka, silentMs }: SilenceOptions): Promise<number> {
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
      'batch.size.auto': 'false',
      'connection.attempts': '100',
      'connection.backoff.ms': '100',
      ...SHORT_SESSION,
    };
    await worker.rest.create(name, sinkConfig({ ...db, host: '127.0.0.1', port: proxy.port }, config));
    const producing = produce(kafka, name);
    const stored = () => sql.number('select count(*) from silent');
    const arrived = (rows: number) =>
      until(async () => (await stored()) >= rows, `${String(rows)} rows`, { timeoutMs: 120_000 });
    await arrived(1000);
    const since = performance.now();
    if (silentMs === 'forgotten') {
      proxy.forget();
      await producing;
    } else {
      proxy.stall();
      await Promise.all([producing, delay(silentMs)]);
      proxy.cut();
      proxy.pass();
    }
    await arrived((await stored()) + 1);
    const silence = performance.now() - since;
    await arrived(ROWS);
    await until(async () => (await kafka.committed(`connect-${name}`)) === ROWS, 'all is committed');
    await assertEachOnce(sql, 'silent', ROWS);
    await worker.rest.untilState(name, 'RUNNING', 1);
    return silence;
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
