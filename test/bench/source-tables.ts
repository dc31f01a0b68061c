import { createKafkaClient } from '../../src/kafka/client/client.ts';
import type { Admin } from '../../src/kafka/api.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { sourceConfig } from '../support/connectors.ts';
import type { BenchContext } from './bench-context.ts';
import { CopyFiles } from './copy-files.ts';
import { compare, median, summarise, type Comparison, type Figures } from './figures.ts';
import type { PeerRun } from './java-peer.ts';
import { measureRuns } from './measured-run.ts';
import { untilAll, type Stretch } from './stretch.ts';
import { seriesTable } from './tables.ts';
import type { WorkerUnderTest } from './worker-under-test.ts';

/** Interval of the counts; requesting the last offset from the broker costs next to nothing. */
const COUNTING_MS = 50;
const TABLE = 'bench_source';

interface SourceFigures extends Figures, Partial<Comparison> {
  readonly debezium_cpu_s_per_million?: number;
  readonly debezium_peak_rss_mb?: number;
}

type Format = 'json_db' | 'line_lp' | 'json_tsd';

/**
 * `source-json`, `source-lines`, `source-tsd`: a table with twice the rows into a topic with one partition, one row per
 * record, with the default settings of the connector. With peers, compared with the snapshot of the Debezium PostgreSQL
 * source (without schemas).
 */
export function sourceTo(format: Format): (half: BenchContext) => Promise<SourceFigures> {
  return (half) => readTable(half, format);
}

async function readTable(half: BenchContext, format: Format): Promise<SourceFigures> {
  const context = { ...half, rows: 2 * half.rows };
  const { services, rows } = context;
  const peer = await context.peer();
  await refuseStrangers(context);
  const worker = await context.startWorker();
  const admin = createKafkaClient({ 'bootstrap.servers': services.bootstrapServers }, silentLogger).admin();
  try {
    await fillTable(context);
    const snapshots: PeerRun[] = [];
    const runs = await measureRuns(
      context,
      worker,
      async () => {
        if (peer !== undefined) snapshots.push(await peer.snapshot(TABLE, rows));
      },
      () => sourceOnce(context, worker, admin, format),
    );
    const figures = await summarise(runs, worker);
    if (peer === undefined) return figures;
    // The first run warms up the JVM.
    snapshots.shift();
    return {
      ...figures,
      ...compare(
        runs,
        'Debezium PostgreSQL snapshot, schemas off',
        snapshots.map(({ rows_per_s }) => rows_per_s),
      ),
      debezium_cpu_s_per_million: median(snapshots.map(({ cpu_s_per_million }) => cpu_s_per_million)),
      debezium_peak_rss_mb: Math.max(...snapshots.map(({ peak_rss_mb }) => peak_rss_mb)),
    };
  } finally {
    await worker.stop();
    await admin.close();
    await services.dropTable(TABLE);
  }
}

/** Fails if the database contains other tables, because a source reads every table of its database. */
export async function refuseStrangers({ services }: Pick<BenchContext, 'services'>, own = TABLE): Promise<void> {
  const { rows } = await services.query(`select tablename from pg_tables where schemaname = 'public'`);
  const others = rows.map(([name]) => String(name)).filter((name) => name !== own);
  if (others.length > 0) {
    throw new Error(
      `a source's workload needs a database without other tables; there are ${others.slice(0, 5).join(', ')}`,
    );
  }
}

async function fillTable({ services, rows }: BenchContext): Promise<void> {
  await services.createTable(TABLE, seriesTable);
  const files = await CopyFiles.write(seriesTable, rows, { format: 'binary' });
  try {
    await files.load(services, TABLE);
  } finally {
    await files.discard();
  }
  await services.query(`vacuum analyze ${TABLE}`);
}

async function sourceOnce(
  { services, rows, overrides }: BenchContext,
  { rest }: WorkerUnderTest,
  admin: Admin,
  format: Format,
): Promise<Stretch> {
  const name = `bench-source-${String(Date.now())}`;
  const topic = [name, services.database.database, TABLE, format].join('-');
  await admin.createTopic({ name: topic, partitions: 1, replicationFactor: 1, settings: {} });
  const workload = {
    'tasks.max': '1',
    'out.format': format,
    'topic.prefix': name,
    'poll.interval.ms': '5000',
    ...overrides,
  };
  await rest.create(name, sourceConfig({ ...services.database, url: '' }, workload));
  try {
    return await untilAll(
      rows,
      async () => (await admin.endOffsets(topic)).reduce((sum, { offset }) => sum + offset, 0),
      () => rest.status(name),
      COUNTING_MS,
    );
  } finally {
    await rest.delete(`/connectors/${name}`);
    await admin.deleteTopics([topic]);
  }
}
