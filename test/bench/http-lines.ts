import { createHash } from 'node:crypto';
import { Agent, request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { startApi } from './api-under-test.ts';
import type { BenchServices } from './bench-services.ts';
import { median, type BenchContext, type Figures } from './figures.ts';
import type { WorkerUnderTest } from './worker-under-test.ts';

const START_MS = 1_700_000_000_000;
const LINES_PER_REQUEST = 5_000;
const IN_FLIGHT = 4;

const value = (id: number) => ((id * 7919) % 1_000_003) / 100;
const category = (id: number) => `category-${String(id % 100)}`;

const PRIMARY_TAGS = Array.from({ length: 100 }, (_, id) =>
  createHash('sha256')
    .update(`category=${category(id)}`)
    .digest('hex'),
);

interface HttpLinesFigures extends Figures {
  /** The same with gzip, which this machine packs beforehand. */
  readonly gzip_rows_per_s: number;
  readonly gzip_ratio_to_peer: number;
  /** As the service tells them by `Server-Timing`, summed over the requests of a run, per million rows. */
  readonly parse_s_per_million: number;
}

/**
 * `http-lines`: line protocol by POST to `/restapi/linedb`, 5,000 lines a request, 4 in flight, plain HTTP, gzip off and on, against
 * `\copy` of the same rows (derived primary tag included) into an equal table over one connection, in the same run.
 */
export async function httpLines({ services, rows: half, runs }: BenchContext): Promise<HttpLinesFigures> {
  const rows = 2 * half;
  const { worker, port, token } = await startApi(services);
  const client = new LineClient(port, token);
  const results = { plain: [] as Run[], gzip: [] as Run[], copy: [] as number[] };
  try {
    const plain = bodies(rows);
    const packed = plain.map((body) => gzipSync(body, { level: 1 }));
    // The first run warms the process up and does not count.
    for (let run = -1; run < runs; run++) {
      await createTable(services, 'bench_http_copy');
      const copyRate = rows / (await services.copy('bench_http_copy', copyText(rows)));
      const plainRun = await measure(services, worker, client, plain, rows);
      const gzipRun = await measure(services, worker, client, packed, rows);
      if (run < 0) continue;
      results.copy.push(copyRate);
      results.plain.push(plainRun);
      results.gzip.push(gzipRun);
    }
    const rates = results.plain.map(({ rate }) => rate);
    const copyRate = median(results.copy);
    const gzipRate = median(results.gzip.map(({ rate }) => rate));
    return {
      rows_per_s: Math.round(median(rates)),
      rows_per_s_range: [Math.round(Math.min(...rates)), Math.round(Math.max(...rates))],
      cpu_s_per_million: rounded(median(results.plain.map(({ cpu }) => cpu))),
      database_cpu_s_per_million: rounded(median(results.plain.map(({ databaseCpu }) => databaseCpu))),
      parse_s_per_million: rounded(median(results.plain.map(({ parse }) => parse))),
      peak_rss_mb: await worker.peakRssMb(),
      peer: 'copy text, one connection',
      peer_rows_per_s: Math.round(copyRate),
      ratio_to_peer: rounded(median(rates) / copyRate),
      gzip_rows_per_s: Math.round(gzipRate),
      gzip_ratio_to_peer: rounded(gzipRate / copyRate),
    };
  } finally {
    client.close();
    await worker.stop();
  }
}

interface Run {
  readonly rate: number;
  readonly cpu: number;
  readonly databaseCpu: number;
  readonly parse: number;
}

async function measure(
  services: BenchServices,
  worker: WorkerUnderTest,
  client: LineClient,
  requests: readonly Buffer[],
  rows: number,
): Promise<Run> {
  await createTable(services, 'bench_http');
  const [workerBefore, databaseBefore] = [await worker.cpuSeconds(), await services.databaseCpuSeconds()];
  const began = performance.now();
  const { told, parseMs } = await client.sendAll(requests);
  const seconds = (performance.now() - began) / 1000;
  const cpu = (await worker.cpuSeconds()) - workerBefore;
  const databaseCpu = (await services.databaseCpuSeconds()) - databaseBefore;
  const stored = await services.number('select count(*) from bench_http');
  if (stored !== rows || told !== rows) {
    throw new Error(`${String(stored)} rows are stored and ${String(told)} were told, not ${String(rows)}`);
  }
  const perMillion = 1e6 / rows;
  return {
    rate: rows / seconds,
    cpu: cpu * perMillion,
    databaseCpu: databaseCpu * perMillion,
    parse: (parseMs / 1000) * perMillion,
  };
}

/** As `/restapi/linedb` creates it. */
async function createTable(services: BenchServices, name: string): Promise<void> {
  await services.query(`drop table if exists ${name}`);
  await services.query(
    `create table ${name} (k_timestamp timestamptz not null, id int8, value float8, primary_tag varchar(64) not null, category varchar(254), primary key (k_timestamp, primary_tag))`,
  );
  await services.query(`comment on column ${name}.primary_tag is 'sluice:primary-tag'`);
  await services.query(`comment on column ${name}.category is 'sluice:tag'`);
  await services.query('checkpoint');
}

function bodies(rows: number): Buffer[] {
  return Array.from({ length: Math.ceil(rows / LINES_PER_REQUEST) }, (_, index) => {
    const from = index * LINES_PER_REQUEST;
    let text = '';
    for (let id = from; id < Math.min(rows, from + LINES_PER_REQUEST); id++) {
      text += `bench_http,category=${category(id)} id=${String(id)}i,value=${String(value(id))} ${String(START_MS + id)}\n`;
    }
    return Buffer.from(text);
  });
}

function* copyText(rows: number): Generator<string> {
  for (let from = 0; from < rows; from += 1000) {
    let text = '';
    for (let id = from; id < Math.min(rows, from + 1000); id++) {
      const at = new Date(START_MS + id).toISOString();
      text += `${at}\t${String(id)}\t${String(value(id))}\t${PRIMARY_TAGS[id % 100] ?? ''}\t${category(id)}\n`;
    }
    yield text;
  }
}

/** Keeps connections open and a number of requests on their way. */
class LineClient {
  readonly #port: number;
  readonly #token: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });

  constructor(port: number, token: string) {
    this.#port = port;
    this.#token = token;
  }

  async sendAll(requests: readonly Buffer[]): Promise<{ told: number; parseMs: number }> {
    let next = 0;
    let told = 0;
    let parseMs = 0;
    const sender = async (): Promise<void> => {
      for (let body = requests[next++]; body !== undefined; body = requests[next++]) {
        const answer = await this.#send(body);
        told += answer.rows;
        parseMs += answer.parseMs;
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, sender));
    return { told, parseMs };
  }

  close(): void {
    this.#agent.destroy();
  }

  async #send(body: Buffer): Promise<{ rows: number; parseMs: number }> {
    const isPacked = body[0] === 0x1f && body[1] === 0x8b;
    const headers = {
      Authorization: `Basic ${this.#token}`,
      'Content-Type': 'text/plain',
      'Content-Length': body.length,
      ...(isPacked ? { 'Content-Encoding': 'gzip' } : {}),
    };
    return new Promise((resolve, reject) => {
      const options = { port: this.#port, agent: this.#agent, method: 'POST', path: PATH, headers };
      const call = request(options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => {
          const { code, rows } = JSON.parse(text) as { code: number; rows: number };
          const parse = /parse;dur=([\d.]+)/.exec(String(response.headers['server-timing']));
          if (code === 0) resolve({ rows, parseMs: Number(parse?.[1] ?? 0) });
          else reject(new Error(text.slice(0, 500)));
        });
      });
      call.on('error', reject);
      call.end(body);
    });
  }
}

const PATH = '/restapi/linedb?precision=ms';

function rounded(figure: number): number {
  return Number(figure.toFixed(2));
}
