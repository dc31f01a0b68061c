import {
  ConnectError,
  silentLogger,
  type ConnectorConfig,
  type SourceCoordinates,
  type SourceOffset,
  type SourcePreview,
  type SourceTarget,
} from '../../src/index.ts';
import { openExecutor, type Executor } from '../database/index.ts';
import { readsLog } from './log-settings.ts';
import { fromOffset, toOffset, type TablePosition } from './position.ts';
import { sourceSettings } from './source-settings.ts';
import { tableOrder } from './table-order.ts';
import { TableQuery } from './table-query.ts';
import { read, TableWatch } from './table-watch.ts';
import { tableLabel } from './tables.ts';

/** Total time limit of all counts. */
const COUNTS_TIMEOUT_MS = 20_000;
const MICROS_PER_MILLISECOND = 1000n;

/** Counts the rows between the stored offsets and the requested ones. A count is null if it takes too long or fails. */
export async function previewOffsets(
  config: ConnectorConfig,
  target: SourceTarget,
  stored: readonly SourceOffset[],
): Promise<readonly SourcePreview[]> {
  if (readsLog(config)) throw new ConnectError('Offsets of read.method=log cannot be previewed');
  const settings = sourceSettings(config);
  if (settings.query !== undefined || settings.mode === 'bulk') {
    throw new ConnectError('Offsets of a query, or of mode=bulk, cannot be previewed');
  }
  const executor = openExecutor(settings.connection, { logger: silentLogger, poolSize: 1 });
  const deadline = Date.now() + COUNTS_TIMEOUT_MS;
  try {
    const watch = new TableWatch(executor);
    const tables = (await watch.tables()).filter((table) => settings.isIncluded(tableLabel(table)));
    const { nowMicros } = await watch.snapshot();
    const known = byPartition(stored);
    const wanted = 'offsets' in target ? byPartition(target.offsets) : undefined;
    const previews: SourcePreview[] = [];
    for (const table of tables) {
      const partition = { table: tableLabel(table) };
      const key = partition.table;
      const order = tableOrder(table, settings);
      if (typeof order === 'string' || wanted?.has(key) === false) continue;
      const begin: TablePosition = { kind: 'from', at: order.kind === 'time' ? settings.initialMicros : undefined };
      const offset = wanted === undefined ? offsetOf(target, order.kind, nowMicros) : (wanted.get(key) ?? null);
      const positionOf = (each: SourceCoordinates | null | undefined): TablePosition =>
        each ? fromOffset(each, order.kind, order.key?.length).position : begin;
      const current = positionOf(known.get(key));
      const next = positionOf(offset);
      const query = new TableQuery(table, order, 0);
      const count = (sql: string) => counted(executor, sql, deadline - Date.now());
      const again = await count(query.count(next, current));
      previews.push({ partition, offset, again, skipped: await count(query.count(current, next)) });
    }
    return previews;
  } finally {
    await executor.close();
  }
}

function offsetOf(target: SourceTarget, kind: 'time' | 'number', nowMicros: bigint): SourceCoordinates | null {
  if ('to' in target && target.to === 'earliest') return null;
  if (kind === 'number')
    throw new ConnectError('Tables that are read by a number accept offsets only, not a time or latest');
  const at = 'time' in target ? BigInt(target.time) * MICROS_PER_MILLISECOND : nowMicros;
  return toOffset({ position: { kind: 'from', at }, transaction: undefined, oid: undefined }, kind);
}

function byPartition(offsets: readonly SourceOffset[]): Map<string, SourceCoordinates | null> {
  return new Map(
    offsets.flatMap(({ partition, offset }) => (partition === null ? [] : [[String(partition['table']), offset]])),
  );
}

async function counted(executor: Executor, sql: string, timeoutMs: number): Promise<number | null> {
  if (timeoutMs <= 0) return null;
  try {
    const { rows } = await read(executor, sql, AbortSignal.timeout(timeoutMs), timeoutMs);
    return Number(rows[0]?.[0] ?? 0);
  } catch {
    // The count timed out, or the user may not read the table.
    return null;
  }
}
