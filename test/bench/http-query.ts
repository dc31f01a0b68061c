import { Agent, request } from 'node:http';
import { startApi } from './api-under-test.ts';
import type { BenchContext } from './bench-context.ts';
import type { BenchServices } from './bench-services.ts';
import { median } from './figures.ts';

const ROWS = 100_000;
const CLIENTS = 16;
const SMALL_SELECTS = 4_000;
const WARM_UP_SELECTS = 1_000;

interface HttpQueryFigures {
  readonly large_ms: number;
  readonly large_ms_range: readonly [number, number];
  readonly first_byte_ms: number;
  readonly peer: string;
  readonly peer_ms: number;
  readonly ratio_to_peer: number;
  readonly small_selects_per_s: number;
  readonly cpu_ms_per_small_select: number;
  readonly peak_rss_mb: number;
}

interface Answer {
  readonly firstByteMs: number;
  readonly totalMs: number;
  readonly tail: string;
}

/**
 * `http-query`: reads 100,000 rows of 6 columns from `/restapi/query`, alternating with psql printing them. Then 16
 * concurrent clients run small selects with a token. The limit of 5 MB is raised, so that all rows are sent.
 */
export async function httpQuery(context: BenchContext): Promise<HttpQueryFigures> {
  const { services, runs } = context;
  const api = await startApi(context, { 'database.http.query.max.bytes': '100000000' });
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const ask = (sql: string) => send(agent, api.port, api.token, sql);
  try {
    await createTable(services);
    const answers: Answer[] = [];
    const psqlMs: number[] = [];
    for (let run = -1; run < runs; run++) {
      const peerMs = await printWithPsql(services);
      const answer = await ask('select * from bench_query');
      if (!answer.tail.endsWith(`"rows":${String(ROWS)}}`)) throw new Error(`not all rows: …${answer.tail}`);
      if (run < 0) continue;
      psqlMs.push(peerMs);
      answers.push(answer);
    }
    const small = await smallSelects(ask, () => api.worker.cpuSeconds());
    const totals = answers.map(({ totalMs }) => totalMs);
    return {
      large_ms: Math.round(median(totals)),
      large_ms_range: [Math.round(Math.min(...totals)), Math.round(Math.max(...totals))],
      first_byte_ms: Math.round(median(answers.map(({ firstByteMs }) => firstByteMs))),
      peer: 'psql, start included',
      peer_ms: Math.round(median(psqlMs)),
      ratio_to_peer: Number((median(totals) / median(psqlMs)).toFixed(2)),
      ...small,
      peak_rss_mb: await api.worker.peakRssMb(),
    };
  } finally {
    agent.destroy();
    await api.worker.stop();
    await services.dropTable('bench_query');
  }
}

async function smallSelects(ask: (sql: string) => Promise<Answer>, cpuSeconds: () => Promise<number>) {
  const run = async (count: number): Promise<number> => {
    let left = count;
    const began = performance.now();
    const client = async (): Promise<void> => {
      while (left-- > 0) await ask(`select id, category from bench_query where id = ${String(left)}`);
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    return count / ((performance.now() - began) / 1000);
  };
  await run(WARM_UP_SELECTS);
  const cpuBefore = await cpuSeconds();
  const perSecond = await run(SMALL_SELECTS);
  const cpuMs = ((await cpuSeconds()) - cpuBefore) * 1000;
  return {
    small_selects_per_s: Math.round(perSecond),
    cpu_ms_per_small_select: Number((cpuMs / SMALL_SELECTS).toFixed(3)),
  };
}

async function createTable(services: BenchServices): Promise<void> {
  await services.query('drop table if exists bench_query');
  await services.query(
    `create table bench_query as select timestamptz '2026-01-01 00:00:00Z' + i * interval '1 ms' as ts, i::int8 as id,
      'category-' || i % 100 as category, (i * 7919 % 1000003) / 100.0::float8 as value, i % 2 = 0 as even, 'note ' || i as note
      from generate_series(0, ${String(ROWS - 1)}) i`,
  );
  await services.query('alter table bench_query add primary key (id)');
  await services.query('vacuum analyze bench_query');
}

async function printWithPsql(services: BenchServices): Promise<number> {
  const began = performance.now();
  await services.psql('select * from bench_query');
  return performance.now() - began;
}

async function send(agent: Agent, port: number, token: string, sql: string): Promise<Answer> {
  const began = performance.now();
  const headers = { Authorization: `Basic ${token}`, 'Content-Type': 'text/plain' };
  return new Promise((resolve, reject) => {
    const call = request({ port, agent, method: 'POST', path: '/restapi/query', headers }, (response) => {
      const firstByteMs = performance.now() - began;
      let tail = '';
      response.on('data', (chunk: Buffer) => {
        tail = chunk.subarray(-100).toString('latin1');
      });
      response.on('end', () => {
        if (response.statusCode === 200) resolve({ firstByteMs, totalMs: performance.now() - began, tail });
        else reject(new Error(`${String(response.statusCode)}: ${tail}`));
      });
    });
    call.on('error', reject);
    call.end(sql);
  });
}
