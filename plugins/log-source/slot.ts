import { ConnectError } from '../../src/index.ts';
import { quoteIdentifier } from '../database/index.ts';
import type { StoredPosition } from './position.ts';
import type { SlotState } from './preparation.ts';
import type { LogSettings } from './settings.ts';

/** @throws ConnectError if the changes since the stored position are gone */
export function needsSnapshot(
  { snapshot, slot: { name } }: LogSettings,
  stored: StoredPosition | undefined,
  slot: SlotState | undefined,
): boolean {
  const { mode } = snapshot;
  if (mode === 'always') return true;
  if (mode === 'no_data') {
    if (stored !== undefined && slot === undefined) throw slotGone(name);
    return false;
  }
  if (stored === undefined || stored.isSnapshotOpen) return true;
  if (slot !== undefined || mode === 'initial_only') return false;
  if (mode === 'when_needed') return true;
  throw slotGone(name);
}

function slotGone(name: string): ConnectError {
  return new ConnectError(
    `The connector has an offset, but slot ${name} is no longer available on the server, so that changes since then are lost. Set snapshot.mode=when_needed, or delete the offsets, to read all tables again`,
  );
}

export function createSlotCommand(
  name: string,
  { isTemporary, isExporting }: { readonly isTemporary: boolean; readonly isExporting: boolean },
  { slot }: LogSettings,
): string {
  const options = [
    `SNAPSHOT '${isExporting ? 'export' : 'nothing'}'`,
    ...(slot.isFailover && !isTemporary ? ['FAILOVER'] : []),
  ];
  const temporary = isTemporary ? ' TEMPORARY' : '';
  return `CREATE_REPLICATION_SLOT ${quoteIdentifier(name)}${temporary} LOGICAL pgoutput (${options.join(', ')})`;
}
