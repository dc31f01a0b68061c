import type { PolledRecord, SourceCoordinates } from '../../src/index.ts';
import { ReplicationConnection } from '../database/index.ts';
import type { ListedTable } from './catalogue.ts';
import type { StreamParts } from './open-stream.ts';
import type { SlotState } from './preparation.ts';
import { exportSnapshot } from './slot.ts';
import { readSnapshot } from './snapshot.ts';

/** A snapshot of tables, from its export until it is read; the connection that exported it stays open meanwhile. */
export class SnapshotRun {
  /** Changes after this place of the log follow the snapshot. */
  readonly lsn: bigint;
  readonly #connection: ReplicationConnection;
  readonly #parts: StreamParts;
  readonly #records: AsyncGenerator<readonly PolledRecord[]>;
  readonly #stopped: AbortController;

  private constructor(
    connection: ReplicationConnection,
    parts: StreamParts,
    {
      lsn,
      records,
      stopped,
    }: { lsn: bigint; records: AsyncGenerator<readonly PolledRecord[]>; stopped: AbortController },
  ) {
    this.lsn = lsn;
    this.#connection = connection;
    this.#parts = parts;
    this.#records = records;
    this.#stopped = stopped;
  }

  /** @param offset of all records, where changes were sent before; absent: the records say how far the snapshot is */
  static async begin(
    tables: readonly ListedTable[],
    slot: SlotState | undefined,
    parts: StreamParts,
    offset?: SourceCoordinates,
  ): Promise<SnapshotRun> {
    const { settings, context } = parts;
    const connection = await ReplicationConnection.open(settings.connection, context.signal);
    try {
      const exported = await exportSnapshot(connection, slot, settings, context.logger);
      const stopped = new AbortController();
      const signal = AbortSignal.any([context.signal, stopped.signal]);
      const snapshot = { ...exported, ...(offset !== undefined && { offset }) };
      const records = readSnapshot(tables, snapshot, { ...parts, signal });
      return new SnapshotRun(connection, parts, { lsn: exported.lsn, records, stopped });
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /** The next records; `undefined`: the snapshot has ended. */
  async next(): Promise<readonly PolledRecord[] | undefined> {
    const next = await this.#records.next();
    if (next.done !== true) return next.value;
    this.#connection.close();
    this.#parts.metrics.snapshotEnded();
    this.#parts.context.logger.info('Snapshot ended');
    return undefined;
  }

  /** Never rejects. */
  async stop(): Promise<void> {
    this.#connection.close();
    this.#stopped.abort();
    await this.#records.return(undefined).catch(() => undefined);
  }
}
