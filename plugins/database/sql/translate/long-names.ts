import { Scanner, type Token } from '../lexer.ts';
import { MAX_IDENTIFIER_BYTES, quoteIdentifier } from '../quote.ts';
import { nameOf } from '../token-text.ts';
import { Refused } from './translation.ts';

/**
 * Matches text that may contain a name that is too long. A UTF-16 unit has at most 3 bytes, so a name of more than 63
 * bytes has at least 22 units.
 */
const MAYBE_LONG = /[\w$\u0080-\uffff]{22}|"(?:[^"]|""){22}/;
/** Maximum number of tokens that are checked, which is enough for the column list of the widest table. */
const MAX_TOKENS = 20_000;

const QUERY = /^(?:SELECT|UPDATE|DELETE|WITH|VALUES|TABLE|EXPLAIN|SHOW|SET)$/;
/** In queries, a quoted name may be meant as text; after these tokens it is a name. */
const NAME_LEADERS: ReadonlySet<string> = new Set([
  ...['FROM', 'JOIN', 'INTO', 'UPDATE', 'ONLY', 'AS', 'TABLE', 'SET', 'USING', 'WITH', '.', '::'],
]);
/** In definitions, a quoted name is a name except after these tokens. */
const TEXT_LEADERS: ReadonlySet<string> = new Set(['DEFAULT', 'COMMENT', '=', 'IS', 'PASSWORD']);

/**
 * Rejects statements with a name that PostgreSQL would truncate (42622): the original database allows 128 bytes, and
 * two names could become the same. Also rejects NUL (22021), which terminates a statement in the protocol. In an
 * INSERT, only the part before the rows is checked. `firstWord` is in upper case.
 */
export function refuseLongNames(sql: string, firstWord: string): void {
  if (sql.includes('\0')) throw new Refused('a statement must not contain a NUL character', '22021');
  if (!MAYBE_LONG.test(sql)) return;
  const isInsert = firstWord === 'INSERT' || firstWord === 'UPSERT';
  const isQuery = QUERY.test(firstWord);
  const scanner = new Scanner(sql);
  // The previous two tokens, in upper case if they are words or signs.
  let before = '';
  let previous = '';
  let pending: Token | undefined;
  for (let count = 0; count < MAX_TOKENS && scanner.next() && !scanner.unterminated; count++) {
    const { kind, start, end } = scanner;
    const source = kind === 'quoted' || kind === 'string' || end - start > 9 ? '' : sql.slice(start, end).toUpperCase();
    if (pending !== undefined && (source === '.' || (source === '=' && before === ','))) refuse(sql, pending);
    pending = undefined;
    if (isInsert && source === 'VALUES') return;
    if ((end - start) * 3 > MAX_IDENTIFIER_BYTES && (kind === 'word' || kind === 'quoted')) {
      const isName =
        kind === 'word' || isInsert || (isQuery ? NAME_LEADERS.has(previous) : !TEXT_LEADERS.has(previous));
      if (isName) refuse(sql, scanner);
      pending = { kind, start, end, unterminated: false };
    }
    before = previous;
    previous = source;
  }
}

/** Throws DatabaseError (42622) if the token is a name that is too long. */
function refuse(sql: string, token: Token): void {
  const name = nameOf(sql, token);
  if (name !== undefined) quoteIdentifier(name);
}
