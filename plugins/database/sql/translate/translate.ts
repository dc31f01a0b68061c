import type { TableName } from '../../../../src/data/row-batch.ts';
import { DatabaseError } from '../../../../src/errors.ts';
import { Scanner } from '../lexer.ts';
import { finish, type Steps } from '../steps.ts';
import { TokenReader } from '../token-reader.ts';
import { stringValue } from '../token-text.ts';
import { translateAlterTable } from './alter-table.ts';
import { replaceTypeNames } from './column-types.ts';
import { namesInDatabase, tablesOfConditions, translateConditions, withoutDatabase } from './conditions.ts';
import { translateDatabase, translateDropDatabase, translateRole, translateSeriesDatabase } from './databases.ts';
import { candidateTables, readInsertHead } from './insert-head.ts';
import { translateDuplicate, translateInsert } from './insert-statement.ts';
import { refuseLongNames } from './long-names.ts';
import { translateRepeatedKeys } from './repeated-keys.ts';
import { intervalOf, readDuration } from './durations.ts';
import { translateFunctions } from './functions.ts';
import { translateGapFill } from './gap-fill.ts';
import { isSeriesTable, translateSeriesTable } from './series-table.ts';
import { translateShow } from './show.ts';
import { translateTableElements } from './table-elements.ts';
import { Refused, run } from './translation.ts';
import type { RunTranslation, Translation, TranslationContext } from './translation.ts';
import { refuseAdminRole, unavailable } from './unavailable.ts';

/**
 * Length limit of statements to translate. Longer ones are sent unchanged, because their tokens would fill the memory.
 * INSERT … VALUES has no limit.
 */
const MAX_READ_LENGTH = 100_000;

/**
 * Translates one statement (without semicolon; see split.ts). Statements that PostgreSQL understands are left
 * unchanged, with PostgreSQL's meaning, with few exceptions: CREATE DATABASE also marks the new database; for
 * time-series tables, ALTER TABLE and an INSERT without a column list follow the rules of the original database; names
 * that PostgreSQL would truncate are refused. All other translations apply to statements that PostgreSQL must reject,
 * either here or, after the rejection, by `translateRefused`. Never throws. Data is never interpreted as SQL: names and
 * text are quoted by quote.ts.
 */
export function translate(sql: string, context: TranslationContext): Translation {
  return finish(translateInSteps(sql, context));
}

/** Like `translate`, in steps, because an INSERT may be long. */
export function* translateInSteps(sql: string, context: TranslationContext): Steps<Translation> {
  return (yield* refusing(translated(sql, context))) ?? run([sql]);
}

type RefusedTranslation = Exclude<Translation, { kind: 'use' | 'set-cluster-setting' | 'show-cluster-setting' }>;

/** SQLSTATEs of errors that the original database's SQL may cause. */
const UNDEFINED_TABLE: ReadonlySet<string> = new Set(['42P01', '3F000']);
const UNDEFINED_TYPE = '42704';
const SYNTAX_ERROR = '42601';
const OPERAND_ERRORS: ReadonlySet<string> = new Set(['42703', '42883', '42804']);
const UNIQUE_VIOLATION = '23505';
const REPEATED_KEY = '21000';

/**
 * Returns what to run instead of a statement that the database just rejected with this SQLSTATE; `undefined` to report
 * the error. If the result is rejected with another SQLSTATE, call this function again with the result. Each call
 * translates something else, so three calls are enough. Translations by SQLSTATE:
 * - 23505: an INSERT into a time-series table; a row with the same key is replaced;
 * - 21000: the same, if two of the rows have the same key in different notation;
 * - 42703, 42883, 42804: integer timestamps and double-quoted text in conditions and assignments, and functions of the
 *   original database;
 * - 42601: durations such as 1h, and INDEX and FAMILY in CREATE TABLE (also 42704);
 * - 42704: type names; GRANT and REVOKE of the role admin are refused;
 * - 42P01, 3F000: tables qualified with the current database.
 */
export function translateRefused(
  sql: string,
  sqlstate: string,
  context: TranslationContext,
): RefusedTranslation | undefined {
  return finish(translateRefusedInSteps(sql, sqlstate, context));
}

/** Like `translateRefused`, in steps. */
export function translateRefusedInSteps(
  sql: string,
  sqlstate: string,
  context: TranslationContext,
): Steps<RefusedTranslation | undefined> {
  return refusing(translatedAfterRefusal(sql, sqlstate, context));
}

function* translatedAfterRefusal(
  sql: string,
  sqlstate: string,
  context: TranslationContext,
): Steps<RunTranslation | undefined> {
  if (sqlstate === UNIQUE_VIOLATION) return yield* translateDuplicate(sql, context);
  if (sqlstate === REPEATED_KEY) return yield* translateRepeatedKeys(sql, context);
  const reader = readerOf(sql);
  if (reader === undefined) return undefined;
  if (OPERAND_ERRORS.has(sqlstate)) {
    // Conditions are translated first. If a condition was the only reason for the error, a user-defined function that
    // shares its name with an original function keeps its meaning.
    return runOrNothing(
      translateConditions(reader, context) ?? translateGapFill(reader, context) ?? translateFunctions(reader, context),
    );
  }
  if (sqlstate === SYNTAX_ERROR) return translateTableElements(reader) ?? runOrNothing(translateSyntax(reader));
  if (sqlstate === UNDEFINED_TYPE) {
    refuseAdminRole(reader);
    return translateTableElements(reader) ?? runOrNothing(replaceTypeNames(reader));
  }
  return UNDEFINED_TABLE.has(sqlstate) ? runOrNothing(withoutDatabase(reader, context)) : undefined;
}

/**
 * Returns the tables that `context.table` must know; an empty list for most statements. Given an SQLSTATE, these are
 * the tables for `translateRefused`, otherwise those for `translate`. After an error, the tables should be read again
 * from the database.
 */
export function tablesNeeded(sql: string, database: string, sqlstate?: string): readonly TableName[] {
  const word = firstWord(sql);
  const isKeyConflict = sqlstate === UNIQUE_VIOLATION || sqlstate === REPEATED_KEY;
  if ((word === 'INSERT' || word === 'UPSERT') && (sqlstate === undefined || isKeyConflict)) {
    const head = readInsertHead(new Scanner(sql));
    return head === undefined ? [] : candidateTables(head.parts, database);
  }
  const reader = word === 'ALTER' || word === 'SHOW' || sqlstate !== undefined ? readerOf(sql) : undefined;
  if (reader === undefined) return [];
  if (sqlstate === undefined) return candidateTables(readTarget(reader) ?? [], database);
  if (UNDEFINED_TABLE.has(sqlstate))
    return namesInDatabase(reader, database).map((name) => ({ schema: database, name }));
  return OPERAND_ERRORS.has(sqlstate) ? tablesOfConditions(reader, database) : [];
}

/** Returns the table of `ALTER TABLE t …`, `SHOW COLUMNS | TAGS | … FROM t` and `SHOW CREATE t`. */
function readTarget(reader: TokenReader): readonly string[] | undefined {
  if (reader.takeWords('ALTER', 'TABLE')) {
    reader.takeWords('IF', 'EXISTS');
    reader.takeWords('ONLY');
    return reader.takeNameParts();
  }
  if (!reader.takeWords('SHOW')) return undefined;
  if (reader.takeWords('CREATE')) {
    if (reader.position + 1 < reader.tokens.length && !reader.isSign('.', 1)) reader.takeOneOf('TABLE', 'VIEW');
    return reader.takeNameParts();
  }
  reader.takeWords('TAG');
  const isOfTable = /^(?:VALUES|COLUMNS|TAGS|ATTRIBUTES|INDEX|INDEXES|KEYS|CONSTRAINTS?)$/.test(reader.keyword() ?? '');
  reader.position += 1;
  return isOfTable && reader.takeWords('FROM') ? reader.takeNameParts() : undefined;
}

/** Returns `undefined` if there is nothing to translate. */
function* translated(sql: string, context: TranslationContext): Steps<Translation | undefined> {
  const word = firstWord(sql);
  const isInsert = word === 'INSERT' || word === 'UPSERT';
  yield undefined;
  refuseLongNames(sql, word);
  yield undefined;
  if (isInsert) {
    const instead =
      word === 'INSERT' && /^\s*insert\s+without\b/i.test(sql) ? unavailable(new TokenReader(sql)) : undefined;
    return instead === undefined ? yield* translateInsert(sql, context) : refuse(instead);
  }
  const reader = TRANSLATED_WORDS.has(word) ? readerOf(sql) : undefined;
  if (reader === undefined) return undefined;
  const instead = unavailable(reader);
  if (instead !== undefined) return refuse(instead);
  switch (word) {
    case 'CREATE':
      return translateCreate(sql, reader, context);
    case 'ALTER':
      return reader.isWords('ALTER', 'TABLE') ? translateAlterTable(sql, reader, context) : undefined;
    case 'DROP':
      return reader.isWords('DROP', 'DATABASE') ? translateDropDatabase(sql, reader) : undefined;
    case 'SHOW':
      return translateShow(reader, context);
    case 'USE':
      return translateUse(reader);
    case 'WITH':
      return translateWith(reader);
    default:
      return translateSet(reader);
  }
}

const TRANSLATED_WORDS: ReadonlySet<string> = new Set([
  ...['CREATE', 'ALTER', 'DROP', 'SHOW', 'USE', 'SET', 'RESET', 'WITH', 'GRANT', 'REVOKE'],
  ...['IMPORT', 'EXPORT', 'BACKUP', 'RESTORE'],
]);

function translateCreate(sql: string, reader: TokenReader, context: TranslationContext): Translation | undefined {
  if (reader.isWords('CREATE', 'TS', 'DATABASE')) return translateSeriesDatabase(reader);
  if (reader.isWords('CREATE', 'DATABASE')) return translateDatabase(sql, reader);
  if (reader.isWords('CREATE', 'TABLE'))
    return isSeriesTable(reader) ? translateSeriesTable(reader, context) : undefined;
  return reader.isWords('CREATE', 'USER') || reader.isWords('CREATE', 'ROLE') ? translateRole(sql, reader) : undefined;
}

function translateUse(reader: TokenReader): Translation {
  reader.takeWords('USE');
  const database = reader.takeName() ?? reader.takeString();
  if (database === undefined || !reader.atEnd) throw new Refused('USE requires the name of one database', '42601');
  return { kind: 'use', database };
}

/** Handles `SET | RESET CLUSTER SETTING` and `SET DATABASE = x`; every other SET is PostgreSQL's. */
function translateSet(reader: TokenReader): Translation | undefined {
  if (reader.takeWords('SET', 'DATABASE')) {
    if (!reader.takeSign('=')) reader.takeWords('TO');
    const database = reader.takeName() ?? reader.takeString();
    return database === undefined || !reader.atEnd ? undefined : { kind: 'use', database };
  }
  const isReset = reader.takeWords('RESET', 'CLUSTER', 'SETTING');
  if (!isReset && !reader.takeWords('SET', 'CLUSTER', 'SETTING')) return undefined;
  const name = reader.takeNameParts()?.join('.').toLowerCase();
  if (name === undefined) throw new Refused('SET CLUSTER SETTING needs the name of a setting', '42601');
  if (isReset) return { kind: 'set-cluster-setting', name, value: undefined };
  if (!reader.takeSign('=') && !reader.takeWords('TO'))
    throw new Refused(`write SET CLUSTER SETTING ${name} = …`, '42601');
  if (reader.atEnd) throw new Refused(`the setting ${name} needs a value`, '42601');
  return { kind: 'set-cluster-setting', name, value: settingValue(reader) };
}

/** Returns the value of a string, or the source text; `undefined` for DEFAULT. */
function settingValue(reader: TokenReader): string | undefined {
  const written = reader.sourceBetween(reader.position, reader.tokens.length);
  if (reader.position + 1 < reader.tokens.length) return written;
  if (reader.isWords('DEFAULT')) return undefined;
  return stringValue(reader.text, reader.current) ?? (reader.current?.kind === 'quoted' ? reader.takeName() : written);
}

function translateWith(reader: TokenReader): Translation | undefined {
  let depth = 0;
  for (const token of reader.tokens) {
    const source = token.kind === 'word' || token.kind === 'punctuation' ? reader.source(token) : '';
    if (source === '(') depth += 1;
    else if (source === ')') depth -= 1;
    else if (depth === 0 && /^upsert$/i.test(source))
      throw new Refused('write WITH … INSERT … ON CONFLICT … DO UPDATE');
  }
  return undefined;
}

function firstWord(sql: string): string {
  const scanner = new Scanner(sql);
  if (!scanner.next() || scanner.kind !== 'word' || scanner.end - scanner.start > 20) return '';
  return sql.slice(scanner.start, scanner.end).toUpperCase();
}

/** Returns `undefined` for statements that are unterminated or too long. */
function readerOf(sql: string): TokenReader | undefined {
  if (sql.length > MAX_READ_LENGTH) return undefined;
  const reader = new TokenReader(sql);
  return reader.tokens.at(-1)?.unterminated === true ? undefined : reader;
}

function runOrNothing(sql: string | undefined): RunTranslation | undefined {
  return sql === undefined ? undefined : run([sql]);
}

function refuse(message: string, sqlstate = '0A000'): Extract<Translation, { kind: 'refuse' }> {
  return { kind: 'refuse', message, sqlstate };
}

function* refusing<T extends Translation>(
  work: Steps<T | undefined>,
): Steps<T | Extract<Translation, { kind: 'refuse' }> | undefined> {
  try {
    return yield* work;
  } catch (error) {
    if (error instanceof Refused) return refuse(error.message, error.sqlstate);
    if (error instanceof DatabaseError) return refuse(error.message, error.sqlstate);
    throw error;
  }
}

/**
 * Translates a statement that PostgreSQL rejected with a syntax error: durations such as `1h` become intervals. Returns
 * `undefined` if there are none. Throws Refused for unsupported syntax.
 */
function translateSyntax(reader: TokenReader): string | undefined {
  const { text, tokens } = reader;
  let translated = '';
  let copied = 0;
  for (let index = 0; index < tokens.length; index++) {
    reader.position = index;
    if (reader.isWords('AS', 'OF', 'SYSTEM', 'TIME')) {
      throw new Refused(
        'AS OF SYSTEM TIME is not available on PostgreSQL, which keeps no earlier versions of rows: ' +
          'omit it to read the current rows, or store earlier versions in a separate table',
      );
    }
    const token = tokens[index];
    const duration = token?.kind === 'number' ? readDuration(reader.source(token)) : undefined;
    if (token === undefined || duration === undefined) continue;
    translated += text.slice(copied, token.start) + intervalOf(duration);
    copied = token.end;
  }
  return copied === 0 ? undefined : translated + text.slice(copied);
}
