import { ConnectError } from '../../src/index.ts';
import type { ServerLog } from './log-identity.ts';
import { lsnText } from './lsn.ts';
import { reachedBy, type StoredPosition } from './position.ts';
import type { SlotState } from './preparation.ts';
import type { LogSettings } from './settings.ts';

/** The state of the server just before the stream begins. */
export interface StreamSource {
  readonly server: ServerLog;
  readonly slot: SlotState | undefined;
  /** Returns the LSN at which the server's timeline branched off an earlier timeline; `undefined` if its history lacks the earlier one. */
  readonly forkOf: (timeline: number) => Promise<bigint | undefined>;
}

/**
 * Checks whether the slot still provides all changes after a position. The connector never moves the slot past a stored position. If the
 * slot is ahead of the position, it was therefore advanced by hand, or dropped and created again. A server that was restored, promoted
 * or replaced has another log.
 *
 * @returns why changes are or may be missing; `undefined` if none are
 */
export async function findGap(
  stored: StoredPosition,
  { server, slot, forkOf }: StreamSource,
  slotName: string,
): Promise<string | undefined> {
  const { log } = stored;
  const { identity, end } = server;
  const reached = reachedBy(stored);
  const position = lsnText(reached);
  // The last message that was sent may belong to a transaction that was not sent completely, and then has a later LSN.
  const lastRead = stored.position?.last?.lsn ?? 0n;
  const read = lastRead > reached ? lastRead : reached;
  if (log !== undefined && log.system !== identity.system) {
    return `The stored position belongs to the server with system identifier ${log.system}, but this server has ${identity.system}: it is another server, or its data directory was created again`;
  }
  if (log !== undefined && log.timeline !== identity.timeline) {
    const [before, now] = [String(log.timeline), String(identity.timeline)];
    const fork = identity.timeline > log.timeline ? await forkOf(log.timeline) : undefined;
    if (fork === undefined) {
      return `The stored position is on timeline ${before}, which is not in the history of the server's timeline ${now}: the server was restored from a backup, or is a standby of another server`;
    }
    if (read > fork) {
      return `The server was promoted: its timeline ${now} departed from timeline ${before} at ${lsnText(fork)}, but changes up to ${lsnText(read)} were read. Those after ${lsnText(fork)} never happened on this server, and their records are in the topics`;
    }
  } else if (end < read) {
    return `The log of the server ends at ${lsnText(end)}, before the stored position ${lsnText(read)}: the server was restored from a backup, or is a standby that is behind`;
  }
  if (slot === undefined) {
    return `Slot ${slotName} is no longer available on the server, so that changes after the stored position ${position} are lost`;
  }
  if (slot.invalidation !== undefined) {
    return `Slot ${slotName} was invalidated (${slot.invalidation}), so that changes after the stored position ${position} are lost`;
  }
  if (slot.confirmed > reached) {
    return `Slot ${slotName} is at ${lsnText(slot.confirmed)}, ahead of the stored position ${position}: it was advanced by hand, or dropped and created again, so that the changes in between are lost`;
  }
  return undefined;
}

/**
 * Whether to read all tables again because of a gap. With `initial_only`, gaps do not matter, because no changes are
 * read.
 * @throws ConnectError if there is a gap and `snapshot.mode` does not allow reading all tables again
 */
export function readsAgain(gap: string | undefined, { snapshot: { mode }, names }: LogSettings): boolean {
  if (gap === undefined || mode === 'initial_only') return false;
  if (mode === 'when_needed' || mode === 'always') return true;
  throw new ConnectError(
    `${gap}. To read all tables again, set ${names.snapshotMode}=when_needed, or stop the connector and delete its offsets`,
  );
}
