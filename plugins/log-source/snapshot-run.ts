import type { PolledRecord, SourceCoordinates } from '../../src/index.ts';
import { ReplicationConnection } from '../database/index.ts';
import type { ListedTable } from './catalogue.ts';
import type { StreamParts } from './open-stream.ts';
import type { SlotState } from './preparation.ts';
import { exportSnapshot } from './slot.ts';
import { readSnapshot } from './snapshot.ts';

/** A running snapshot. The connection that exported the snapshot stays open until all tables have been read. */
export class SnapshotRun {
  /** LSN at which the snapshot was taken. Changes from this LSN on follow the snapshot. */
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

  /** @param offset of all records, if changes were sent before the snapshot. If absent, offsets contain the state of the snapshot */
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

  /** Returns the next records; `undefined` after the end of the snapshot. */
  async next(): Promise<readonly PolledRecord[] | undefined> {
    const next = await this.#records.next();
    if (next.done !== true) return next.value;
    this.#connection.close();
    this.#parts.metrics.snapshotEnded();
    this.#parts.context.logger.info('Snapshot ended');
    return undefined;
  }

  /** Stops reading. Never rejects. */
  async stop(): Promise<void> {
    this.#connection.close();
    this.#stopped.abort();
    await this.#records.return(undefined).catch(() => undefined);
  }
}
