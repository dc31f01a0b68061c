import { ConnectError, toError, type Logger, type TaskMetric, type TaskPart } from '../../src/index.ts';
import { ownStatement, type Executor } from '../database/index.ts';
import type { LogSettings } from './settings.ts';

const KEPT = ownStatement(
  'log source: kept log',
  `SELECT pg_wal_lsn_diff(e.lsn, '0/0')::int8, pg_wal_lsn_diff(e.lsn, s.restart_lsn)::int8,
    pg_wal_lsn_diff(e.lsn, s.confirmed_flush_lsn)::int8, s.wal_status, s.safe_wal_size,
    to_jsonb(s) ->> 'invalidation_reason', to_jsonb(s) ->> 'inactive_since', t.pid, t.seconds,
    o.slot_name, pg_wal_lsn_diff(e.lsn, o.restart_lsn)::int8
  FROM pg_catalog.pg_replication_slots s
  CROSS JOIN (SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END AS lsn) e
  LEFT JOIN LATERAL (SELECT a.pid, extract(epoch FROM clock_timestamp() - a.xact_start)::int8 AS seconds
    FROM pg_catalog.pg_stat_activity a WHERE a.backend_xid IS NOT NULL ORDER BY a.xact_start LIMIT 1) t ON true
  LEFT JOIN LATERAL (SELECT x.slot_name, x.restart_lsn FROM pg_catalog.pg_replication_slots x
    WHERE x.restart_lsn < s.restart_lsn ORDER BY x.restart_lsn LIMIT 1) o ON true
  WHERE s.slot_name = $1::name`,
);

/** A transaction is only reported as the reason for the kept log if it has been open for this many seconds. */
const LONG_TRANSACTION_S = 10;
/**
 * A slot is reported if it will probably be invalidated within this many seconds, and if the server already keeps at
 * least half of the log after which it invalidates the slot.
 */
const SOON_S = 3_600;

/** The log that the server keeps for the slot. */
export interface KeptLog {
  /** End of the server's log, as a number of bytes. */
  readonly end: number;
  /** Bytes of the log that the server keeps for the slot. `unconfirmed`: bytes that the connector has not confirmed. */
  readonly kept: number;
  readonly unconfirmed: number;
  /** `wal_status` of the slot: `reserved`, `extended`, `unreserved` or `lost`. */
  readonly status: string;
  /** Bytes that can still be written before the slot is invalidated; `undefined` if there is no limit. */
  readonly safe: number | undefined;
  readonly invalidation: string | undefined;
  readonly inactiveSince: string | undefined;
  /** The oldest open transaction that has changed something. */
  readonly transaction: { readonly pid: string; readonly seconds: number } | undefined;
  /** The slot for which the server keeps the most, if that is more than for this slot. */
  readonly other: { readonly name: string; readonly kept: number } | undefined;
}

interface GuardParts {
  readonly executor: Executor;
  readonly settings: LogSettings;
  readonly logger: Logger;
}

/** Between `start` and `stop`, regularly checks how much of its log the server keeps for the slot. */
export class WalGuard {
  readonly #parts: GuardParts;
  #timer: NodeJS.Timeout | undefined;
  #isReading = false;
  #log: KeptLog | undefined;
  #bytesPerSecond = 0;
  #readAt = 0;
  #problem: string | undefined;
  #failure: ConnectError | undefined;

  constructor(parts: GuardParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.#check(), this.#parts.settings.slot.statusIntervalMs);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** The error that must end the task. Set once `log.max.lag.bytes` is exceeded, unless the action is `warn`. */
  get failure(): ConnectError | undefined {
    return this.#failure;
  }

  part(): TaskPart {
    const name = `slot ${this.#parts.settings.slot.name}`;
    return { name, state: this.#problem === undefined ? 'RUNNING' : 'FAILED', error: this.#problem, counts: {} };
  }

  metrics(): readonly TaskMetric[] {
    if (this.#log === undefined) return [];
    const { kept, unconfirmed, safe } = this.#log;
    const labels = { slot: this.#parts.settings.slot.name };
    const values: readonly (readonly [name: string, help: string, value: number | undefined])[] = [
      ['kept_bytes', 'Bytes of its log that the server keeps for the slot', kept],
      ['unconfirmed_bytes', 'Bytes of the log that the connector has not confirmed', unconfirmed],
      ['safe_bytes', 'Bytes that may be written before the slot is invalidated', safe],
    ];
    return values.flatMap(([name, help, value]) =>
      value === undefined ? [] : { name: `sluice_log_source_${name}`, help, labels, value },
    );
  }

  /** Reads and judges the state of the slot. Never rejects. */
  async #check(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    const { executor, settings, logger } = this.#parts;
    try {
      const log = await readKeptLog(executor, settings.slot.name);
      if (log !== undefined) this.#judge(log);
    } catch (error) {
      logger.debug(`The state of the slot could not be read: ${toError(error).message}`);
    } finally {
      this.#isReading = false;
    }
  }

  #judge(log: KeptLog): void {
    const { settings, logger } = this.#parts;
    const now = performance.now();
    if (this.#log !== undefined && now > this.#readAt) {
      this.#bytesPerSecond = ((log.end - this.#log.end) / (now - this.#readAt)) * 1000;
    }
    [this.#log, this.#readAt] = [log, now];
    const { maxBytes, action } = settings.guard;
    const problem = problemOf(log, maxBytes, this.#bytesPerSecond);
    if (problem !== undefined && this.#problem === undefined) logger.warn(`Slot ${settings.slot.name}: ${problem}`);
    this.#problem = problem;
    if (problem === undefined || action === 'warn' || maxBytes === 0 || log.kept <= maxBytes) return;
    const fate = action === 'drop-slot' ? ' The slot is dropped; its changes are lost.' : '';
    this.#failure ??= new ConnectError(`Slot ${settings.slot.name}: ${problem}.${fate}`);
  }
}

async function readKeptLog(executor: Executor, slot: string): Promise<KeptLog | undefined> {
  const [row] = (await executor.ask(KEPT, [slot])).rows;
  if (row === undefined) return undefined;
  const [end, kept, unconfirmed, status, safe, invalidation, inactiveSince, pid, seconds, other, keptByOther] = row;
  return {
    end: Number(end),
    kept: Number(kept),
    unconfirmed: Number(unconfirmed),
    status: status ?? 'lost',
    safe: safe === null || safe === undefined ? undefined : Number(safe),
    invalidation: invalidation ?? undefined,
    inactiveSince: inactiveSince ?? undefined,
    transaction: typeof pid === 'string' ? { pid, seconds: Number(seconds) } : undefined,
    other: typeof other === 'string' ? { name: other, kept: Number(keptByOther) } : undefined,
  };
}

/**
 * Describes, as a part of a sentence, the problem of the slot and why the server keeps the log; `undefined` if there is no problem.
 *
 * @internal
 */
export function problemOf(log: KeptLog, maxBytes: number, bytesPerSecond: number): string | undefined {
  const { status, kept, safe, invalidation, inactiveSince } = log;
  if (status === 'lost') return `it was invalidated (${invalidation ?? 'wal_removed'})`;
  const keeps = `the server keeps ${bytesText(kept)} of its log for it`;
  const since = inactiveSince === undefined ? '' : `, and nothing has read it since ${inactiveSince}`;
  if (maxBytes > 0 && kept > maxBytes) {
    return `${keeps}, more than log.max.lag.bytes=${String(maxBytes)}${since}: ${holderOf(log)}`;
  }
  if (status === 'unreserved') {
    return `${keeps}, more than max_slot_wal_keep_size, and may invalidate it at the next checkpoint${since}: ${holderOf(log)}`;
  }
  const seconds = safe === undefined || bytesPerSecond <= 0 ? Infinity : safe / bytesPerSecond;
  if (seconds > SOON_S || kept < (safe ?? Infinity)) return undefined;
  return `${keeps}, and invalidates it in about ${String(Math.round(seconds))} s if as much is written as now (max_slot_wal_keep_size)${since}: ${holderOf(log)}`;
}

function holderOf({ kept, unconfirmed, transaction, other }: KeptLog): string {
  const more = other === undefined ? '' : `; slot ${other.name} keeps ${bytesText(other.kept)}`;
  if (unconfirmed * 2 > kept) return `this connector has not confirmed the last ${bytesText(unconfirmed)}${more}`;
  if (transaction !== undefined && transaction.seconds >= LONG_TRANSACTION_S) {
    const { pid, seconds } = transaction;
    return `the transaction of process ${pid}, which has been open for ${String(seconds)} s, holds it${more}`;
  }
  return `the server has not moved the slot yet, which it does with the next changes${more}`;
}

function bytesText(bytes: number): string {
  if (bytes >= 1024 ** 3) return `${(bytes / 1024 ** 3).toFixed(1)} GiB`;
  return bytes >= 1024 ** 2 ? `${(bytes / 1024 ** 2).toFixed(1)} MiB` : `${String(bytes)} bytes`;
}
