import { ConnectError, toError, type Logger } from '../../src/index.ts';
import { quoteIdentifier, ReplicationConnection } from '../database/index.ts';
import { readServerLog } from './log-identity.ts';
import { parseLsn } from './lsn.ts';
import type { SlotState } from './preparation.ts';
import type { LogSettings } from './settings.ts';
import type { ExportedSnapshot } from './snapshot.ts';

/**
 * Exports a snapshot by creating the slot, because only a new slot can export one. If the slot already exists, a temporary slot is created
 * in addition. The snapshot is valid until the connection is closed. If `snapshot.mode` allows reading all tables again, an invalidated
 * slot is replaced.
 * @throws DatabaseError; ConnectError if the slot is invalidated and is not replaced
 */
export async function exportSnapshot(
  connection: ReplicationConnection,
  slot: SlotState | undefined,
  settings: LogSettings,
  logger: Logger,
): Promise<ExportedSnapshot> {
  const { name } = settings.slot;
  const { mode } = settings.snapshot;
  const { identity: log } = await readServerLog(connection);
  if (slot?.invalidation !== undefined) {
    if (mode !== 'when_needed' && mode !== 'always') {
      throw new ConnectError(
        `Slot ${name} was invalidated (${slot.invalidation}). Drop it (SELECT pg_drop_replication_slot('${name}')) and restart the task`,
      );
    }
    await connection.command(`DROP_REPLICATION_SLOT ${quoteIdentifier(name)}`);
    logger.warn(`Dropped slot ${name}, which was invalidated (${slot.invalidation})`);
  }
  const isTemporary = slot !== undefined && slot.invalidation === undefined;
  const created = isTemporary ? `${name.slice(0, 50)}_snapshot` : name;
  const { rows } = await connection.command(createSlotCommand(created, { isTemporary, isExporting: true }, settings));
  const [, lsn, snapshot] = rows[0] ?? [];
  return { lsn: parseLsn(lsn ?? ''), name: snapshot ?? '', log };
}

/** Creates the slot. Returns the LSN after which its changes begin. @throws DatabaseError */
export async function createSlot(connection: ReplicationConnection, settings: LogSettings): Promise<bigint> {
  const kind = { isTemporary: false, isExporting: false };
  const { rows } = await connection.command(createSlotCommand(settings.slot.name, kind, settings));
  return parseLsn(rows[0]?.[1] ?? '');
}

/** Drops the slot. Never rejects; a failure is logged. */
export async function dropSlot({ connection: server, slot }: LogSettings, logger: Logger): Promise<void> {
  try {
    const connection = await ReplicationConnection.open(server);
    await connection
      .command(`DROP_REPLICATION_SLOT ${quoteIdentifier(slot.name)} WAIT`)
      .finally(() => connection.close());
  } catch (error) {
    logger.warn(`Slot ${slot.name} was not dropped: ${toError(error).message}`);
  }
}

function createSlotCommand(
  name: string,
  { isTemporary, isExporting }: { readonly isTemporary: boolean; readonly isExporting: boolean },
  { slot }: LogSettings,
): string {
  const create = `CREATE_REPLICATION_SLOT ${quoteIdentifier(name)}${isTemporary ? ' TEMPORARY' : ''} LOGICAL pgoutput`;
  // PostgreSQL 14 has no list of options in parentheses, and later versions accept both forms.
  if (!slot.isFailover || isTemporary) return `${create} ${isExporting ? 'EXPORT_SNAPSHOT' : 'NOEXPORT_SNAPSHOT'}`;
  return `${create} (SNAPSHOT '${isExporting ? 'export' : 'nothing'}', FAILOVER)`;
}
