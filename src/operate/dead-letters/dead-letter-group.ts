import { createHash } from 'node:crypto';
import type { DeadLetterRecord } from './dead-letter-record.ts';

/** The properties that the records of one group share. */
export interface DeadLetterGroupKey {
  /** `UNKNOWN`: the records have no header with the stage. */
  readonly stage: string;
  /** The exception class, if the records have no SQLSTATE. */
  readonly class: string | undefined;
  readonly sqlstate: string | undefined;
  readonly table: string | undefined;
  readonly column: string | undefined;
  /**
   * The message with its variable parts replaced by `…`; absent if there is none, or if both SQLSTATE and table are
   * known.
   */
  readonly message: string | undefined;
}

const MAX_PATTERN = 200;
/**
 * The parts that differ between records: quoted texts, text in braces, and words that begin with a digit, such as
 * numbers and times.
 */
const VARIABLE = /"[^"\n]*"|'[^'\n]*'|\{[^{}\n]*\}|[+-]?\d[\w.:+-]*/g;

export function deadLetterGroupKey(deadLetter: DeadLetterRecord): DeadLetterGroupKey {
  const { stage = 'UNKNOWN', exception, sqlstate, table, column } = deadLetter;
  const saysEnough = sqlstate !== undefined && table !== undefined;
  const message = saysEnough ? undefined : deadLetter.message;
  return {
    stage,
    class: sqlstate === undefined ? exception : undefined,
    sqlstate,
    table,
    column,
    message: message === undefined ? undefined : messagePattern(message),
  };
}

/** The id of a group. It depends only on the key of the group, so all workers compute the same id. */
export function deadLetterGroupId(key: DeadLetterGroupKey): string {
  const parts = [key.stage, key.class, key.sqlstate, key.table, key.column, key.message];
  const text = JSON.stringify(parts.map((part) => part ?? null));
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/**
 * Replaces the variable parts of a message, so that records with the same fault have the same pattern. Runs in linear
 * time.
 * @internal
 */
export function messagePattern(message: string): string {
  const head = message.slice(0, MAX_PATTERN * 2);
  return head.replace(VARIABLE, '…').replace(/\s+/g, ' ').slice(0, MAX_PATTERN).trim();
}
