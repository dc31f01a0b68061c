import type { ReplicationConnection } from '../database/index.ts';
import { parseLsn } from './lsn.ts';

/** The log that a place belongs to: each initdb makes a new system, each promotion of a standby a new timeline. */
export interface LogIdentity {
  /** The system identifier. */
  readonly system: string;
  readonly timeline: number;
}

/** The log of the server that a connection leads to. */
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
 * The place at which the server's timeline departed from an earlier one; `undefined` if that is not in its history.
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
 * Each line of a history file has a timeline, the place at which it was left, and the reason.
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
