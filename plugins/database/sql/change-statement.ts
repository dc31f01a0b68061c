import { classify } from './classify.ts';
import { splitStatements } from './split.ts';
import { TokenReader } from './token-reader.ts';

/**
 * The kind of statement that a change message declares (docs/formats.md#cdc_db), or `truncate` for events of Debezium.
 */
export type ChangeKind = 'update' | 'delete' | 'create' | 'alter' | 'drop' | 'truncate';

/**
 * Returns `undefined` if the SQL of a message is exactly one statement of the declared kind; otherwise, the problem.
 */
export function changeProblem(sql: string, kind: ChangeKind): string | undefined {
  const statements = splitStatements(sql);
  const first = statements.next();
  if (first.done === true) return 'the statement is empty';
  const found = classify(first.value.text);
  if (found.kind !== kind) {
    const contained = found.keyword === '' ? 'another one' : `a statement that begins with ${found.keyword}`;
    return `the message is of kind ${kind} but contains ${contained}`;
  }
  return statements.next().done === true
    ? undefined
    : 'the message contains several statements; a message must contain one';
}

/** SQLSTATEs of an object that exists: duplicate table, object, column, schema, database, function. */
const ALREADY_EXISTS: ReadonlySet<string> = new Set(['42P07', '42710', '42701', '42P06', '42P04', '42723']);
/** SQLSTATE of an invalid definition; raised by ALTER TABLE … ADD PRIMARY KEY when the table has a primary key. */
const INVALID_DEFINITION = '42P16';
/**
 * SQLSTATE of an object in a wrong state; raised by ALTER TABLE … ADD GENERATED … AS IDENTITY for a column that is an
 * identity.
 */
const WRONG_STATE = '55000';
/** SQLSTATEs of an object that does not exist: undefined table, object, column, function, schema, database. */
const DOES_NOT_EXIST: ReadonlySet<string> = new Set(['42P01', '42704', '42703', '42883', '3F000', '3D000']);
/** SQLSTATEs of a missing part of an existing table: undefined column, object. */
const MEMBER_DOES_NOT_EXIST: ReadonlySet<string> = new Set(['42703', '42704']);

/**
 * Returns true if the SQLSTATE means that an earlier delivery of the statement already succeeded: the object to create
 * exists, or the object to drop, truncate or rename does not. The earlier effect cannot be verified, so an existing
 * table with different columns counts as well.
 */
export function isAlreadyApplied(sql: string, kind: ChangeKind, sqlstate: string): boolean {
  switch (kind) {
    case 'create':
      return ALREADY_EXISTS.has(sqlstate);
    case 'drop':
    case 'truncate':
      return DOES_NOT_EXIST.has(sqlstate);
    case 'alter':
      return isAlterAlreadyApplied(sql, sqlstate);
    case 'update':
    case 'delete':
      return false;
  }
}

/**
 * Returns true for an ALTER that was applied before. ALTER is atomic, so if one of its actions was applied, all were.
 */
function isAlterAlreadyApplied(sql: string, sqlstate: string): boolean {
  const reader = new TokenReader(sql);
  const words = new Set<string | undefined>();
  for (; !reader.atEnd; reader.position++) words.add(reader.keyword());
  if (words.has('RENAME')) return DOES_NOT_EXIST.has(sqlstate);
  const hasPrimaryKey = words.has('PRIMARY') && sqlstate === INVALID_DEFINITION;
  const isIdentity = words.has('IDENTITY') && sqlstate === WRONG_STATE;
  return (
    (words.has('ADD') && (ALREADY_EXISTS.has(sqlstate) || hasPrimaryKey || isIdentity)) ||
    (words.has('DROP') && MEMBER_DOES_NOT_EXIST.has(sqlstate))
  );
}
