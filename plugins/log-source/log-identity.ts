import type { ReplicationConnection } from '../database/index.ts';
import { parseLsn } from './lsn.ts';

/** Identifies the log that an LSN belongs to. Each initdb creates a new system, and each promotion of a standby creates a new timeline. */
export interface LogIdentity {
  /** The system identifier. */
  readonly system: string;
  readonly timeline: number;
}

/** The log of the server to which a connection leads. */
export interface ServerLog {
  readonly identity: LogIdentity;
  readonly end: bigint;
}

/** @throws DatabaseError */
export async function readServerLog(connection: ReplicationConnection): Promise<ServerLog> {
  const { rows } = await connection.command('IDENTIFY_SYSTEM');
  const [system, timeline, end] = rows[0] ?? [];
  return { identity: { system: system ?? '', timeline: Number(timeline) }, end: parseLsn(end ?? '') };
}

/**
 * Reads the LSN at which the server's timeline branched off an earlier timeline; `undefined` if its history lacks the earlier one.
 * @throws DatabaseError
 */
export async function readFork(
  connection: ReplicationConnection,
  current: number,
  earlier: number,
): Promise<bigint | undefined> {
  const { rows } = await connection.command(`TIMELINE_HISTORY ${String(current)}`);
  return forkIn(rows[0]?.[1] ?? '', earlier);
}

/**
 * Finds a timeline in a history file, and returns the LSN at which the server left it. Each line of the file has a timeline, this
 * LSN, and the reason.
 *
 * @internal
 */
export function forkIn(history: string, timeline: number): bigint | undefined {
  for (const line of history.split('\n')) {
    const [, left = '', lsn = ''] = /^(\d{1,10})\s{1,20}([0-9A-F]{1,8}\/[0-9A-F]{1,8})/.exec(line.trim()) ?? [];
    if (left === String(timeline)) return parseLsn(lsn);
  }
  return undefined;
}
