import { toError, type Logger, type SourceRecord } from '../../src/index.ts';
import type { Executor } from '../database/index.ts';
import type { ChangeRecords } from './change-records.ts';
import { toOffset, type LogPosition } from './position.ts';
import type { LogSettings } from './settings.ts';

interface HeartbeatParts {
  readonly executor: Executor;
  readonly settings: LogSettings;
  readonly records: ChangeRecords;
  readonly logger: Logger;
}

/** Makes heartbeat records, and runs the statement of `heartbeat.action.query`. */
export class Heartbeat {
  readonly #parts: HeartbeatParts;
  #dueAt = 0;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
  }

  /**
   * If a heartbeat is due, runs the statement, and returns a heartbeat record with the position as its offset. Returns
   * no record if there is no position yet.
   */
  async beat(position: LogPosition): Promise<readonly SourceRecord[]> {
    const { settings, records } = this.#parts;
    if (settings.heartbeat.intervalMs === 0 || Date.now() < this.#dueAt) return [];
    const hasPosition = position.last !== undefined || position.lastCommit !== undefined;
    const beats = hasPosition ? [records.heartbeat(toOffset(position))] : [];
    await this.runStatement();
    return beats;
  }

  /** Runs the statement, if heartbeats are enabled. Never rejects; a failure is logged. */
  async runStatement(): Promise<void> {
    const { settings, executor, logger } = this.#parts;
    const { intervalMs, sql } = settings.heartbeat;
    this.#dueAt = Date.now() + intervalMs;
    if (intervalMs === 0 || sql === undefined) return;
    try {
      await executor.query(sql);
    } catch (error) {
      logger.warn(`heartbeat.action.query failed: ${toError(error).message}`);
    }
  }
}
