import type { TokenReader } from '../token-reader.ts';

/** A clause of the original database that has no meaning in PostgreSQL and is ignored. */
export interface IgnoredClause {
  readonly written: string;
  readonly reason: string;
}

const RETENTION = 'PostgreSQL keeps rows until they are deleted';
const STORAGE = 'PostgreSQL stores tables its own way';

/** Reads `COMMENT [=] 'text'`, if present. */
export function readComment(reader: TokenReader): string | undefined {
  const start = reader.position;
  if (!reader.takeWords('COMMENT')) return undefined;
  reader.takeSign('=');
  const comment = reader.takeString();
  if (comment === undefined) reader.position = start;
  return comment;
}

/**
 * Reads a retention, partition, hash ring, encoding or compression clause. None of these clauses affects query results
 * as long as the rows exist, so the statement can run without them.
 */
export function readIgnoredClause(reader: TokenReader): IgnoredClause | undefined {
  const start = reader.position;
  const reason = takeClause(reader);
  if (reason !== undefined) return { written: reader.sourceBetween(start, reader.position), reason };
  reader.position = start;
  return undefined;
}

function takeClause(reader: TokenReader): string | undefined {
  if (reader.takeOneOf('RETENTIONS', 'ACTIVETIME') !== undefined) return takeDuration(reader) ? RETENTION : undefined;
  if (reader.takeWords('PARTITION', 'INTERVAL')) return takeDuration(reader) ? STORAGE : undefined;
  if (reader.takeWords('WITH', 'HASH') || reader.takeWords('HASH'))
    return reader.skipParentheses() ? STORAGE : undefined;
  if (reader.takeWords('DICT', 'ENCODING')) return STORAGE;
  if (reader.takeOneOf('ENCODE', 'COMPRESS', 'COMPRESSION') !== undefined)
    return takeValue(reader) ? STORAGE : undefined;
  if (reader.takeWords('LEVEL')) return takeValue(reader) ? STORAGE : undefined;
  return undefined;
}

/** `[=] 10d`, `[=] 10 day` */
function takeDuration(reader: TokenReader): boolean {
  reader.takeSign('=');
  const [amount, unit] = reader.tokens.slice(reader.position, reader.position + 2);
  if (amount?.kind !== 'number') return false;
  const hasUnit = unit?.kind === 'word' && /^\d+$/.test(reader.source(amount));
  reader.position += hasUnit ? 2 : 1;
  return true;
}

function takeValue(reader: TokenReader): boolean {
  reader.takeSign('=');
  const kind = reader.current?.kind;
  if (kind !== 'word' && kind !== 'string' && kind !== 'number') return false;
  reader.position += 1;
  return true;
}
