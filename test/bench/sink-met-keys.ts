import type { Workload } from './bench-context.ts';
import type { BenchServices } from './bench-services.ts';
import { envelope } from './rows.ts';
import { runSink } from './sink-workload.ts';
import { BATCHES, structOptions } from './sinks.ts';
import { keyedTable } from './tables.ts';

const TABLE = 'bench_met_keys';
const PARTITIONS = 4;

/**
 * `upsert-half-met`, `upsert-all-met`: `sink-struct-upsert` into a table that already contains every second key, or all
 * keys.
 */
export const upsertHalfMet = upsertMeeting(2);
export const upsertAllMet = upsertMeeting(1);

/** One in `every` rows of a partition has a key that is already stored. */
function upsertMeeting(every: number): Workload {
  const prepare = async (services: BenchServices, table: string, rows: number): Promise<void> => {
    await services.query(
      `insert into ${table} select id, 'stored', 0 from generate_series(0, ${String(rows - 1)}) id
        where id / ${String(PARTITIONS)} % ${String(every)} = 0`,
    );
    await services.query(`vacuum analyze ${table}`);
    await services.query('checkpoint');
  };
  return (context) =>
    runSink(context, {
      table: TABLE,
      arrived: `${TABLE} where category <> 'stored'`,
      layout: keyedTable,
      textOf: envelope,
      options: { ...BATCHES, ...structOptions(TABLE, 'upsert') },
      peerMode: 'upsert',
      prepare,
    });
}
