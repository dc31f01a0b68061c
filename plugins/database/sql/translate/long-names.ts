import { Scanner, type Token } from '../lexer.ts';
import { MAX_IDENTIFIER_BYTES, quoteIdentifier } from '../quote.ts';
import { nameOf } from '../token-text.ts';
import { Refused } from './translation.ts';

/** A UTF-16 unit is at most 3 bytes: without a run of so many units no name can be too long. */
const MAYBE_LONG = /[\w$\u0080-\uffff]{22}|"(?:[^"]|""){22}/;
/** What is looked at: the list of columns of the widest table takes less. */
const MAX_TOKENS = 20_000;

const QUERY = /^(?:SELECT|UPDATE|DELETE|WITH|VALUES|TABLE|EXPLAIN|SHOW|SET)$/;
/** In queries a name in quotes may be meant as a text; behind these it is a name. */
const NAME_LEADERS: ReadonlySet<string> = new Set([
  ...['FROM', 'JOIN', 'INTO', 'UPDATE', 'ONLY', 'AS', 'TABLE', 'SET', 'USING', 'WITH', '.', '::'],
]);
/** In definitions it is one except behind these. */
const TEXT_LEADERS: ReadonlySet<string> = new Set(['DEFAULT', 'COMMENT', '=', 'IS', 'PASSWORD']);

/**
 * Refuses statements with a name that PostgreSQL would cut (42622), be it a table's, a column's, a role's or a database's:
 * the original holds 128 bytes, and two names could become one here. Also those with a NUL (22021), which ends a statement
 * on the wire. Of an INSERT only what stands before its rows is looked at. `firstWord` is in upper case.
 */
export function refuseLongNames(sql: string, firstWord: string): void {
  if (sql.includes('\0')) throw new Refused('a statement must not hold a NUL character', '22021');
  if (!MAYBE_LONG.test(sql)) return;
  const isInsert = firstWord === 'INSERT' || firstWord === 'UPSERT';
  const isQuery = QUERY.test(firstWord);
  const scanner = new Scanner(sql);
  /** The tokens before the current one, and it: in upper case where they are words or signs. */
  let before = '';
  let previous = '';
  let held: Token | undefined;
  for (let count = 0; count < MAX_TOKENS && scanner.next() && !scanner.unterminated; count++) {
    const { kind, start, end } = scanner;
    const source = kind === 'quoted' || kind === 'string' || end - start > 9 ? '' : sql.slice(start, end).toUpperCase();
    if (held !== undefined && (source === '.' || (source === '=' && before === ','))) refuse(sql, held);
    held = undefined;
    if (isInsert && source === 'VALUES') return;
    if ((end - start) * 3 > MAX_IDENTIFIER_BYTES && (kind === 'word' || kind === 'quoted')) {
      const isName =
        kind === 'word' || isInsert || (isQuery ? NAME_LEADERS.has(previous) : !TEXT_LEADERS.has(previous));
      if (isName) refuse(sql, scanner);
      held = { kind, start, end, unterminated: false };
    }
    before = previous;
    previous = source;
  }
}

/** Throws a DatabaseError (42622) when the token is a name that is too long. */
function refuse(sql: string, token: Token): void {
  const name = nameOf(sql, token);
  if (name !== undefined) quoteIdentifier(name);
}
