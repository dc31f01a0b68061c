import type { BenchContext } from './bench-context.ts';
import type { BenchServices } from './bench-services.ts';
import { CopyFiles } from './copy-files.ts';
import { compare, median, rangeOf, rounded, summarise, type Comparison, type Figures, type Range } from './figures.ts';
import { measureRuns } from './measured-run.ts';
import type { JavaPeer, PeerRun } from './java-peer.ts';
import { RowTopic } from './row-topic.ts';
import { envelope, type TextOf } from './rows.ts';
import { sinkOnce, type SinkJob } from './sink-run.ts';
import { keyedTable, type TableLayout } from './tables.ts';

const COPY_TABLE = 'bench_copy';
const PEER_TABLE = 'bench_peer';

type PeerMode = 'insert' | 'upsert';

/** A workload that moves a topic's rows into a table. */
export interface SinkWorkload extends SinkJob {
  readonly layout: TableLayout;
  readonly textOf: TextOf;
  /** Insert mode of the Debezium JDBC sink for the comparison. */
  readonly peerMode: PeerMode | null;
  /** Stores rows in the empty table before those of the topic. `arrived` then excludes these rows. */
  readonly prepare?: (services: BenchServices, table: string, rows: number) => Promise<void>;
}

export interface SinkFigures extends Figures, Comparison, Partial<DebeziumFigures> {}

interface DebeziumFigures {
  readonly debezium_rows_per_s: number;
  readonly debezium_rows_per_s_range: Range;
  readonly debezium_cpu_s_per_million: number;
  readonly debezium_peak_rss_mb: number;
  readonly ratio_to_debezium: number;
}

/**
 * Runs a sink with 2 tasks from 4 partitions; each run has its own connector and table. Alternates with psql's `\copy`
 * of the same rows into an equal table and, with peers, with the Debezium JDBC sink on the Java worker.
 */
export async function runSink(context: BenchContext, workload: SinkWorkload): Promise<SinkFigures> {
  const { services, rows } = context;
  const { table, layout, prepare } = workload;
  const debezium = await DebeziumSink.open(context, workload);
  const worker = await context.startWorker();
  const copyFiles = await CopyFiles.write(layout, rows);
  const topic = await RowTopic.produce(services, table.replaceAll('_', '-'), rows, workload.textOf);
  const copyRates: number[] = [];
  try {
    const runs = await measureRuns(
      context,
      worker,
      async () => {
        await services.createTable(COPY_TABLE, layout);
        copyRates.push(await copyFiles.load(services, COPY_TABLE));
        await debezium?.run();
        await services.createTable(table, layout);
        await prepare?.(services, table, rows);
      },
      () => sinkOnce(context, worker, topic.name, workload),
    );
    await sameRows(services, table);
    return {
      ...(await summarise(runs, worker)),
      ...compare(runs, 'psql \\copy text, one connection', copyRates.slice(1)),
      ...debezium?.figures(median(runs.map(({ rowsPerS }) => rowsPerS))),
    };
  } finally {
    await worker.stop();
    await topic.delete();
    await debezium?.close();
    await copyFiles.discard();
    for (const name of [table, COPY_TABLE]) await services.dropTable(name);
  }
}

/** Throws if the rows differ from those that `\copy` stored, because the figures would be meaningless. */
async function sameRows(services: BenchServices, table: string): Promise<void> {
  const sumOf = async (name: string): Promise<unknown> =>
    (await services.query(`select sum(hashtextextended(t::text, 0)) from ${name} t`)).rows[0]?.[0];
  if ((await sumOf(table)) !== (await sumOf(COPY_TABLE))) throw new Error(`${table} holds other rows than it should`);
}

/** The Debezium JDBC sink with 2 tasks, for the same rows as envelopes. */
class DebeziumSink {
  readonly #context: BenchContext;
  readonly #peer: JavaPeer;
  readonly #workload: SinkWorkload & { readonly peerMode: PeerMode };
  readonly #topic: RowTopic;
  readonly #runs: PeerRun[] = [];

  private constructor(
    context: BenchContext,
    peer: JavaPeer,
    workload: SinkWorkload & { readonly peerMode: PeerMode },
    topic: RowTopic,
  ) {
    this.#context = context;
    this.#peer = peer;
    this.#workload = workload;
    this.#topic = topic;
  }

  /** Resolves with `undefined` if there is no comparison. */
  static async open(context: BenchContext, workload: SinkWorkload): Promise<DebeziumSink | undefined> {
    const { peerMode } = workload;
    if (peerMode === null) return undefined;
    const peer = await context.peer();
    if (peer === undefined) return undefined;
    const topic = await RowTopic.produce(context.services, 'bench-peer', context.rows, envelope);
    return new DebeziumSink(context, peer, { ...workload, peerMode }, topic);
  }

  async run(): Promise<void> {
    const { services, rows } = this.#context;
    const { table, arrived, peerMode: mode, prepare } = this.#workload;
    await services.createTable(PEER_TABLE, keyedTable);
    await prepare?.(services, PEER_TABLE, rows);
    const job = {
      topic: this.#topic.name,
      table: PEER_TABLE,
      arrived: arrived?.replace(table, PEER_TABLE),
      mode,
      rows,
    };
    this.#runs.push(await this.#peer.sink(job));
    await services.dropTable(PEER_TABLE);
  }

  /** Returns the figures without those of the first run, which warms up the JVM. */
  figures(rate: number): DebeziumFigures {
    const runs = this.#runs.slice(1);
    const rates = runs.map(({ rows_per_s }) => rows_per_s);
    return {
      debezium_rows_per_s: median(rates),
      debezium_rows_per_s_range: rangeOf(rates),
      debezium_cpu_s_per_million: median(runs.map(({ cpu_s_per_million }) => cpu_s_per_million)),
      debezium_peak_rss_mb: Math.max(...runs.map(({ peak_rss_mb }) => peak_rss_mb)),
      ratio_to_debezium: rounded(rate / median(rates)),
    };
  }

  async close(): Promise<void> {
    await this.#topic.delete();
  }
}
