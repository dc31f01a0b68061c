import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startApi } from './api-under-test.ts';
import type { BenchContext } from './bench-context.ts';
import type { BenchServices } from './bench-services.ts';
import { BodyClient, expectSuccess } from './body-client.ts';
import { compare, median, summarise, type Comparison, type Figures } from './figures.ts';
import { measure, type Run } from './measured-run.ts';
import { copyLines, HOSTS, METRICS, metricName, POINT_COLUMNS, pointsAt } from './opentsdb-points.ts';
import { expectSameRows } from './same-rows.ts';
import type { Stretch } from './stretch.ts';

const IN_FLIGHT = 4;
/** Number of tables that the benchmark creates in one transaction. */
const TABLES_AT_ONCE = 100;

interface HttpOpenTsdbFigures extends Figures, Comparison {
  /** Duration of the first request, which creates all tables. */
  readonly first_request_ms: number;
  /** Rate if a request contains one point of each metric. */
  readonly single_points_per_s: number;
}

/**
 * `http-opentsdb`: sends JSON arrays by POST to `/api/put`, with 10 points of each of 1,000 metrics per request and 4
 * concurrent requests. Alternates with psql's `\copy` of the same rows, one table after the other, into equal tables
 * over one connection.
 */
export async function httpOpenTsdb(context: BenchContext): Promise<HttpOpenTsdbFigures> {
  const { services, stretches } = context;
  const steps = Math.max(1, Math.round(context.rows / (METRICS * HOSTS)));
  const { worker, port, token } = await startApi(context);
  const client = new BodyClient({
    port,
    token,
    path: '/api/put',
    contentType: 'application/json',
    inFlight: IN_FLIGHT,
  });
  const send = async (requests: readonly Buffer[], rows: number): Promise<Stretch> => {
    const fromMs = performance.now();
    await client.sendAll(requests, expectSuccess);
    return { rows, fromMs, toMs: performance.now() };
  };
  const peer = await CopiedMetrics.write(steps);
  const results = { sent: [] as Run[], copy: [] as number[], single: [] as number[] };
  try {
    await forAllTables(services, (name) => `drop table if exists ${name}`);
    await forAllTables(services, (_, copy) => `drop table if exists ${copy}; create table ${copy} (${POINT_COLUMNS})`);
    const requests = Array.from({ length: steps }, (_, step) => Buffer.from(pointsAt(step, HOSTS)));
    const singles = Array.from({ length: steps }, (_, step) => Buffer.from(pointsAt(step, 1)));
    const first = await send(singles.slice(0, 1), METRICS);
    // The first run warms up the process and does not count.
    for (let run = -1; run < context.runs; run++) {
      await forAllTables(services, (name, copy) => `truncate ${name}, ${copy}`);
      await services.query('checkpoint');
      const copyRate = await peer.load(services);
      if (run === 0) stretches.length = 0;
      const rows = steps * METRICS * HOSTS;
      const sent = await measure({ ...context, rows }, worker, () => send(requests, rows));
      await expectSameRows(services, union(0), union(1), rows);
      await forAllTables(services, (name) => `truncate ${name}`);
      const single = await send(singles, steps * METRICS);
      if (run < 0) continue;
      results.copy.push(copyRate);
      results.sent.push(sent);
      results.single.push((single.rows * 1_000) / (single.toMs - single.fromMs));
    }
    return {
      ...(await summarise(results.sent, worker)),
      first_request_ms: Math.round(first.toMs - first.fromMs),
      single_points_per_s: Math.round(median(results.single)),
      ...compare(results.sent, 'psql \\copy text, table after table, one connection', results.copy),
    };
  } finally {
    client.close();
    await worker.stop();
    await peer.discard();
    await forAllTables(services, (name, copy) => `drop table if exists ${name}, ${copy}`);
  }
}

/** Returns the quoted names of the table that Sluice creates for a metric, and of its copy. */
function tablesOf(metric: number): readonly [string, string] {
  const name = metricName(metric);
  return [pg.escapeIdentifier(name), pg.escapeIdentifier(`copy.${name}`)];
}

async function forAllTables(services: BenchServices, statement: (name: string, copy: string) => string): Promise<void> {
  for (let from = 0; from < METRICS; from += TABLES_AT_ONCE) {
    const statements = Array.from({ length: TABLES_AT_ONCE }, (_, at) => statement(...tablesOf(from + at)));
    await services.query(statements.join(';'));
  }
}

/** Returns a query for the rows of all tables, with their metrics. */
function union(which: 0 | 1): string {
  const parts = Array.from({ length: METRICS }, (_, metric) => {
    return `select ${String(metric)} as metric, timestamp, value, primary_tag, host, dc from ${tablesOf(metric)[which]}`;
  });
  return `(${parts.join(' union all ')})`;
}

/** The rows as files, one per metric, and a script with which psql loads them. */
class CopiedMetrics {
  readonly #folder: string;
  readonly #rows: number;

  private constructor(folder: string, rows: number) {
    this.#folder = folder;
    this.#rows = rows;
  }

  static async write(steps: number): Promise<CopiedMetrics> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-metrics-'));
    const commands: string[] = [];
    for (let metric = 0; metric < METRICS; metric++) {
      const file = join(folder, `${String(metric)}.text`);
      await writeFile(file, copyLines(metric, steps, HOSTS));
      commands.push(`\\copy ${tablesOf(metric)[1]} from '${file}'`);
    }
    await writeFile(join(folder, 'load.sql'), commands.join('\n'));
    return new CopiedMetrics(folder, steps * METRICS * HOSTS);
  }

  /** Loads the files. Resolves with rows per second. */
  async load(services: BenchServices): Promise<number> {
    const began = performance.now();
    await services.psql(`\\i ${join(this.#folder, 'load.sql')}`);
    return (this.#rows * 1_000) / (performance.now() - began);
  }

  async discard(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
