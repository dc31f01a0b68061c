import { withEngineMark } from '../mark.ts';
import { quoteIdentifier, quoteLiteral } from '../quote.ts';
import type { TokenReader } from '../token-reader.ts';
import { readComment, readIgnoredClause } from './clauses.ts';
import { unexpected } from './series-table.ts';
import { Refused, run, type RunTranslation } from './translation.ts';

const DUPLICATE_DATABASE = '42P04';

/**
 * Translates `CREATE TS DATABASE [IF NOT EXISTS] x [RETENTIONS …] [PARTITION INTERVAL …] [COMMENT = '…']`. The mark of
 * the engine is the first word of the database's comment (mark.ts). CREATE DATABASE cannot run inside a transaction.
 */
export function translateSeriesDatabase(reader: TokenReader): RunTranslation {
  reader.takeWords('CREATE', 'TS', 'DATABASE');
  const ifNotExists = reader.takeWords('IF', 'NOT', 'EXISTS');
  const database = reader.takeName();
  if (database === undefined) throw unexpected(reader, 'the name of a database');
  const notices: string[] = [];
  let comment: string | undefined;
  while (!reader.atEnd) {
    const found = readComment(reader);
    const clause = found === undefined ? readIgnoredClause(reader) : undefined;
    if (found !== undefined) comment = found;
    else if (clause !== undefined) notices.push(`${clause.written} of the database is ignored: ${clause.reason}`);
    else throw unexpected(reader, 'the end of the statement');
  }
  const name = quoteIdentifier(database);
  return run(
    [
      `CREATE DATABASE ${name}`,
      `COMMENT ON DATABASE ${name} IS ${quoteLiteral(withEngineMark(comment ?? null, 'time-series'))}`,
    ],
    { transaction: false, notices, doneOn: ifNotExists ? DUPLICATE_DATABASE : undefined },
  );
}

/** Translates the original database's IF NOT EXISTS and COMMENT, and marks the database as relational. */
export function translateDatabase(text: string, reader: TokenReader): RunTranslation {
  reader.takeWords('CREATE', 'DATABASE');
  const ifNotExists = reader.takeWords('IF', 'NOT', 'EXISTS');
  const database = reader.takeName();
  if (database === undefined) return run([text]);
  const optionsStart = reader.position;
  while (!reader.atEnd && !reader.isWords('COMMENT')) reader.position += 1;
  const options = reader.sourceBetween(optionsStart, reader.position);
  const comment = readComment(reader);
  if (!reader.atEnd) throw unexpected(reader, 'the end of the statement');
  const name = quoteIdentifier(database);
  const mark = withEngineMark(comment ?? null, 'relational');
  const isAsWritten = !ifNotExists && comment === undefined;
  const statements = [
    isAsWritten ? text : `CREATE DATABASE ${name}${options === '' ? '' : ` ${options}`}`,
    `COMMENT ON DATABASE ${name} IS ${quoteLiteral(mark)}`,
  ];
  return run(statements, { transaction: false, doneOn: ifNotExists ? DUPLICATE_DATABASE : undefined });
}

/** Translates `DROP DATABASE x CASCADE`: PostgreSQL always drops the contents. Throws Refused for RESTRICT. */
export function translateDropDatabase(text: string, reader: TokenReader): RunTranslation {
  reader.takeWords('DROP', 'DATABASE');
  const ifExists = reader.takeWords('IF', 'EXISTS');
  const database = reader.takeName();
  const behaviour = reader.takeOneOf('CASCADE', 'RESTRICT');
  if (database === undefined || behaviour === undefined || !reader.atEnd) return run([text]);
  if (behaviour === 'RESTRICT') {
    throw new Refused(
      'DROP DATABASE cannot check whether the database is empty: omit RESTRICT to drop it with its tables',
    );
  }
  return run([`DROP DATABASE ${ifExists ? 'IF EXISTS ' : ''}${quoteIdentifier(database)}`]);
}

/** `CREATE USER | ROLE IF NOT EXISTS …` */
export function translateRole(text: string, reader: TokenReader): RunTranslation {
  const [start, end] = [reader.position + 2, reader.position + 5];
  reader.position += 2;
  if (!reader.isWords('IF', 'NOT', 'EXISTS')) return run([text]);
  return run([reader.replace(start, end, '')], { doneOn: '42710' });
}
