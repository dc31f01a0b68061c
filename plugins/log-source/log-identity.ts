import type { ReplicationConnection } from '../database/index.ts';
import { parseLsn } from './lsn.ts';

/** Identifies the log that a place belongs to. Each initdb creates a new system, and each promotion of a standby creates a new timeline. */
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
 * Reads the place at which the server's timeline departed from an earlier timeline; `undefined` if its history lacks the earlier one.
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
 * Finds a timeline in a history file. Each line of the file has a timeline, the place at which the server left it, and the reason.
 *
 * @internal
 */
export function forkIn(history: string, timeline: number): bigint | undefined {
  for (const line of history.split('\n')) {
    const [, left = '', place = ''] = /^(\d{1,10})\s{1,20}([0-9A-F]{1,8}\/[0-9A-F]{1,8})/.exec(line.trim()) ?? [];
    if (left === String(timeline)) return parseLsn(place);
  }
  return undefined;
}
