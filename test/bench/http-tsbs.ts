import { gzipSync } from 'node:zlib';
import { startApi } from './api-under-test.ts';
import type { BenchContext } from './bench-context.ts';
import { BodyClient, expectSuccess } from './body-client.ts';
import { CopyFiles } from './copy-files.ts';
import { compare, median, rounded, summarise, type Comparison, type Figures } from './figures.ts';
import { measure, type Run } from './measured-run.ts';
import { expectSameRows } from './same-rows.ts';
import type { Stretch } from './stretch.ts';
import { tsbsLineOf, tsbsTable } from './tsbs-rows.ts';

const LINES_PER_REQUEST = 10_000;
const IN_FLIGHT = 2;
const TABLE = 'cpu';
const COPY_TABLE = 'cpu_copy';

interface HttpTsbsFigures extends Figures, Comparison {
  /** Parse time reported by the service in `Server-Timing`, summed over the requests of a run, per million rows. */
  readonly parse_s_per_million: number;
}

/**
 * `http-tsbs`: sends the rows of TSBS's `cpu-only` (10 tags, 10 fields) by POST to `/write` as gzip bodies of 10,000
 * lines, from 2 clients. Alternates with psql's `\copy` of the same rows into an equal table over one connection.
 */
export async function httpTsbs(context: BenchContext): Promise<HttpTsbsFigures> {
  const { services, rows, stretches } = context;
  const { worker, port, token } = await startApi(context);
  const path = `/write?db=${services.database.database}`;
  const client = new BodyClient({ port, token, path, contentType: 'text/plain', inFlight: IN_FLIGHT });
  const copyFiles = await CopyFiles.write(tsbsTable, rows);
  const results = { sent: [] as Run[], copy: [] as number[], parse: [] as number[] };
  try {
    const requests = bodies(rows);
    // The first run warms up the process and does not count.
    for (let run = -1; run < context.runs; run++) {
      await services.createTable(COPY_TABLE, tsbsTable);
      const copyRate = await copyFiles.load(services, COPY_TABLE);
      await services.createTable(TABLE, tsbsTable);
      if (run === 0) stretches.length = 0;
      let parseMs = 0;
      const sent = await measure(context, worker, async (): Promise<Stretch> => {
        const fromMs = performance.now();
        parseMs = await client.sendAll(requests, expectSuccess);
        return { rows, fromMs, toMs: performance.now() };
      });
      await expectSameRows(services, TABLE, COPY_TABLE, rows);
      if (run < 0) continue;
      results.copy.push(copyRate);
      results.sent.push(sent);
      results.parse.push((parseMs * 1000) / rows);
    }
    return {
      ...(await summarise(results.sent, worker)),
      parse_s_per_million: rounded(median(results.parse)),
      ...compare(results.sent, 'psql \\copy text, one connection', results.copy),
    };
  } finally {
    client.close();
    await worker.stop();
    await copyFiles.discard();
    await services.dropTable(TABLE);
    await services.dropTable(COPY_TABLE);
  }
}

function bodies(rows: number): Buffer[] {
  const textOf = tsbsLineOf(TABLE);
  return Array.from({ length: Math.ceil(rows / LINES_PER_REQUEST) }, (_, index) => {
    const from = index * LINES_PER_REQUEST;
    let text = '';
    for (let id = from; id < Math.min(rows, from + LINES_PER_REQUEST); id++) text += `${textOf(id)}\n`;
    return gzipSync(text);
  });
}
