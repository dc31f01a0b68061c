import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { TcpProxy } from '../support/proxy.ts';
import { database, uniqueName } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import type { Repeat } from './repeat.ts';

const LINES_PER_SEND = 5_000;
const PAD = 'x'.repeat(120);

export interface Silence {
  /** Peak resident memory of the worker while rows were stored, and while the database did not respond. */
  readonly flowingMb: number;
  readonly silentMb: number;
  readonly stored: number;
  readonly produced: number;
}

/**
 * Stores rows in a database. Then the database neither reads nor responds for `seconds`, while `rows` of 170 bytes
 * arrive. At the end it responds again.
 */
export async function silentDatabase(seconds: number, rows: number): Promise<Silence> {
  const warmUp = rows / 2;
  const target = await database('silent');
  const sql = new SqlClient(target);
  const worker = await WorkerProcess.start();
  const proxy = await TcpProxy.start(target);
  const traffic = await KafkaTraffic.shared();
  const topic = uniqueName('silent');
  try {
    await sql.run('CREATE TABLE silent (k_timestamp timestamptz NOT NULL PRIMARY KEY, v int8, pad text)');
    await traffic.createTopic(topic, 4);
    const options = { topics: topic, 'tasks.max': '2', 'protocol.type': 'line_lp', 'timestamp.precision': 'us' };
    await worker.rest.create(uniqueName('silent'), sinkConfig({ ...target, port: proxy.port }, options));
    let produced = 0;
    const produce = async (upTo: number): Promise<void> => {
      for (; produced < upTo; produced += LINES_PER_SEND) {
        const from = produced;
        await traffic.produce(
          topic,
          Array.from({ length: LINES_PER_SEND }, (_, index) => lineOf(from + index)),
        );
      }
    };
    const stored = (): Promise<number> => sql.number('SELECT count(*) FROM silent');
    const flowing = new PeakMemory(worker);
    await produce(warmUp);
    await until(async () => (await stored()) === warmUp, 'all rows of the warm-up', { timeoutMs: 60_000 });
    const flowingMb = await flowing.stop();

    proxy.stall();
    const silent = new PeakMemory(worker);
    const silence = delay(seconds * 1000);
    await produce(warmUp + rows);
    await silence;
    const silentMb = await silent.stop();
    proxy.pass();
    await until(async () => (await stored()) === produced, 'all rows', { timeoutMs: 180_000 });
    return { flowingMb, silentMb, stored: await stored(), produced };
  } finally {
    await worker.discard();
    await proxy.close();
    await sql.close();
  }
}

function lineOf(id: number): { partition: number; value: string } {
  return { partition: id % 4, value: `silent v=${String(id)}i,pad="${PAD}" ${String(1_700_000_000_000_000 + id)}` };
}

class PeakMemory {
  readonly #worker: WorkerProcess;
  readonly #timer: NodeJS.Timeout;
  #peakMb = 0;

  constructor(worker: WorkerProcess) {
    this.#worker = worker;
    this.#timer = setInterval(() => void this.#sample(), 100);
  }

  async stop(): Promise<number> {
    clearInterval(this.#timer);
    await this.#sample();
    return this.#peakMb;
  }

  async #sample(): Promise<void> {
    const status = await readFile(`/proc/${String(this.#worker.pid)}/status`, 'utf8').catch(() => '');
    const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
    this.#peakMb = Math.max(this.#peakMb, Math.round(kilobytes / 1024));
  }
}

/** Maximum memory growth, in MiB, while the database is silent. */
export const MAX_GROWTH_MB = 64;

export const silentDatabaseRepeat: Repeat = {
  unit: 'seconds',
  defaultCount: 60,
  run: async ({ count, print }) => {
    const { flowingMb, silentMb, stored, produced } = await silentDatabase(count ?? 60, 1_000_000);
    print(
      `resident memory at most ${String(flowingMb)} MB while rows flowed, ${String(silentMb)} MB in the silence; ${String(stored)} of ${String(produced)} rows stored`,
    );
    return stored === produced && silentMb - flowingMb <= MAX_GROWTH_MB;
  },
};
