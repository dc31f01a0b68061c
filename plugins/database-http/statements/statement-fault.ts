import type { DatabaseError } from '../../database/index.ts';
import type { StatementFault } from '../route.ts';
import type { RequestStatement } from './statement-text.ts';

/**
 * The reason why the database refused a statement of `sql`, and the position of the error in `sql`. PostgreSQL reports the position in
 * the executed text, which is the statement, a page that contains it, or a translation; in a translation, the position is unknown.
 */
export function faultOf(
  { sqlstate, cause }: DatabaseError,
  { text, offset }: Pick<RequestStatement, 'text' | 'offset'>,
  { sql, executed }: { readonly sql: string; readonly executed: string },
): StatementFault {
  const reported = Number((cause as { readonly position?: unknown } | undefined)?.position ?? NaN);
  const before = executed.indexOf(text);
  if (before < 0 || !Number.isSafeInteger(reported)) return { sqlstate, position: undefined };
  const position = reported - characters(executed, before);
  const isWithin = position >= 1 && position <= characters(text, text.length) + 1;
  return { sqlstate, position: isWithin ? position + characters(sql, offset) : undefined };
}

export function faultHeaders(fault: StatementFault | undefined): Readonly<Record<string, string>> {
  const { sqlstate, position } = fault ?? {};
  return {
    ...(sqlstate === undefined ? {} : { 'X-SQL-State': sqlstate }),
    ...(position === undefined ? {} : { 'X-SQL-Position': String(position) }),
  };
}

/** Number of characters (code points) in the first `end` UTF-16 units of a text. */
function characters(text: string, end: number): number {
  let count = 0;
  for (let at = 0; at < end; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) count++;
  return count;
}
