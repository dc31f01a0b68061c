import { gzipSync } from 'node:zlib';
import { startApi } from './api-under-test.ts';
import type { BenchContext } from './bench-context.ts';
import { BodyClient } from './body-client.ts';
import { CopyFiles } from './copy-files.ts';
import { compare, median, rangeOf, rounded, summarise, type Comparison, type Figures, type Range } from './figures.ts';
import { measure, type Run } from './measured-run.ts';
import { lineOf } from './rows.ts';
import type { Stretch } from './stretch.ts';
import { derivedSeriesTable } from './tables.ts';
import type { WorkerUnderTest } from './worker-under-test.ts';

const LINES_PER_REQUEST = 5_000;
const IN_FLIGHT = 4;
const TABLE = 'bench_http';
const COPY_TABLE = 'bench_http_copy';
const PATH = '/restapi/linedb?precision=ms';

interface HttpLinesFigures extends Figures, Comparison {
  /** Rate with gzip bodies, which this machine compresses in advance. */
  readonly gzip_rows_per_s: number;
  readonly gzip_rows_per_s_range: Range;
  readonly gzip_ratio_to_peer: number;
  /** Parse time reported by the service in `Server-Timing`, summed over the requests of a run, per million rows. */
  readonly parse_s_per_million: number;
}

/**
 * `http-lines`: sends twice the rows as line protocol by POST to `/restapi/linedb`, with 5,000 lines per request and 4
 * concurrent requests, over plain HTTP, with and without gzip. Alternates with psql's `\copy` of the same rows
 * (including the derived primary tag) into an equal table over one connection.
 */
export async function httpLines(half: BenchContext): Promise<HttpLinesFigures> {
  const context = { ...half, rows: 2 * half.rows };
  const { services, rows, stretches } = context;
  const { worker, port, token } = await startApi(context);
  const client = new BodyClient({ port, token, path: PATH, contentType: 'text/plain', inFlight: IN_FLIGHT });
  const copyFiles = await CopyFiles.write(derivedSeriesTable, rows);
  const results = { plain: [] as Run[], gzip: [] as Run[], copy: [] as number[], parse: [] as number[] };
  try {
    const plain = bodies(rows);
    const packed = plain.map((body) => gzipSync(body, { level: 1 }));
    // The first run warms up the process and does not count.
    for (let run = -1; run < context.runs; run++) {
      await services.createTable(COPY_TABLE, derivedSeriesTable);
      const copyRate = await copyFiles.load(services, COPY_TABLE);
      await services.dropTable(COPY_TABLE);
      const gzipRun = await sendOnce({ ...context, stretches: [] }, worker, client, packed);
      if (run === 0) stretches.length = 0;
      const plainRun = await sendOnce(context, worker, client, plain);
      if (run < 0) continue;
      results.copy.push(copyRate);
      results.plain.push(plainRun.run);
      results.parse.push((plainRun.parseMs * 1000) / rows);
      results.gzip.push(gzipRun.run);
    }
    const gzipRates = results.gzip.map(({ rowsPerS }) => rowsPerS);
    return {
      ...(await summarise(results.plain, worker)),
      parse_s_per_million: rounded(median(results.parse)),
      ...compare(results.plain, 'psql \\copy text, one connection', results.copy),
      gzip_rows_per_s: Math.round(median(gzipRates)),
      gzip_rows_per_s_range: rangeOf(gzipRates),
      gzip_ratio_to_peer: rounded(median(gzipRates) / median(results.copy)),
    };
  } finally {
    client.close();
    await worker.stop();
    await copyFiles.discard();
    await services.dropTable(TABLE);
  }
}

async function sendOnce(
  context: BenchContext,
  worker: WorkerUnderTest,
  client: BodyClient,
  requests: readonly Buffer[],
): Promise<{ run: Run; parseMs: number }> {
  const { services, rows } = context;
  await services.createTable(TABLE, derivedSeriesTable);
  let parseMs = 0;
  const run = await measure(context, worker, async (): Promise<Stretch> => {
    const fromMs = performance.now();
    let told = 0;
    parseMs = await client.sendAll(requests, ({ text }) => {
      const answer = JSON.parse(text) as { code: number; rows: number };
      if (answer.code !== 0) throw new Error(text.slice(0, 500));
      told += answer.rows;
    });
    const toMs = performance.now();
    const stored = await services.number(`select count(*) from ${TABLE}`);
    if (stored !== rows || told !== rows) {
      throw new Error(`${String(stored)} rows are stored and ${String(told)} were reported, not ${String(rows)}`);
    }
    return { rows, fromMs, toMs };
  });
  return { run, parseMs };
}

function bodies(rows: number): Buffer[] {
  const textOf = lineOf(TABLE);
  return Array.from({ length: Math.ceil(rows / LINES_PER_REQUEST) }, (_, index) => {
    const from = index * LINES_PER_REQUEST;
    let text = '';
    for (let id = from; id < Math.min(rows, from + LINES_PER_REQUEST); id++) text += `${textOf(id)}\n`;
    return Buffer.from(text);
  });
}
