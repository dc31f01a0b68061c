import { createHash } from 'node:crypto';
import type { LetterContext } from './dead-letter.ts';

/** What letters of one group have in common. */
export interface LetterGroupKey {
  /** `UNKNOWN` for a letter without context headers. */
  readonly stage: string;
  /** The exception for letters without an SQLSTATE. */
  readonly class: string | undefined;
  readonly sqlstate: string | undefined;
  readonly table: string | undefined;
  readonly column: string | undefined;
  /** The message with its variable parts replaced by `…`; absent where the SQLSTATE and the table say enough. */
  readonly message: string | undefined;
}

type Described = Pick<LetterContext, 'stage' | 'exception' | 'message' | 'sqlstate' | 'table' | 'column'>;

const MAX_PATTERN = 200;
/** Quoted texts, numbers, what lies in braces, and long words of letters and digits: what differs from letter to letter. */
const VARIABLE = /"[^"\n]*"|'[^'\n]*'|\{[^{}\n]*\}|[+-]?\d[\w.:+-]*/g;

export function letterGroupKey(letter: Described): LetterGroupKey {
  const { stage = 'UNKNOWN', exception, sqlstate, table, column } = letter;
  const saysEnough = sqlstate !== undefined && table !== undefined;
  const message = saysEnough ? undefined : letter.message;
  return {
    stage,
    class: sqlstate === undefined ? exception : undefined,
    sqlstate,
    table,
    column,
    message: message === undefined ? undefined : messagePattern(message),
  };
}

/** The same for the same key, in every worker and at every time. */
export function letterGroupId(key: LetterGroupKey): string {
  return createHash('sha256').update(keyText(key)).digest('hex').slice(0, 12);
}

function keyText(key: LetterGroupKey): string {
  const parts = [key.stage, key.class, key.sqlstate, key.table, key.column, key.message];
  return JSON.stringify(parts.map((part) => part ?? null));
}

const MAX_KNOWN_IDS = 1000;

/** The groups of letters, as `selection.group` names them; those of letters that are alike are computed once. */
export class LetterGroupIds {
  readonly #known = new Map<string, string>();

  of(letter: Described): string {
    const key = letterGroupKey(letter);
    const text = keyText(key);
    let id = this.#known.get(text);
    if (id === undefined) {
      if (this.#known.size >= MAX_KNOWN_IDS) this.#known.clear();
      id = letterGroupId(key);
      this.#known.set(text, id);
    }
    return id;
  }
}

/**
 * A message without the values that it names, so that letters with the same fault have the same pattern. Linear in its length.
 * @internal
 */
export function messagePattern(message: string): string {
  const head = message.slice(0, MAX_PATTERN * 2);
  return head.replace(VARIABLE, '…').replace(/\s+/g, ' ').slice(0, MAX_PATTERN).trim();
}
