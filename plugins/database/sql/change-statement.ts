import { classify } from './classify.ts';
import { splitStatements } from './split.ts';
import { TokenReader } from './token-reader.ts';

/** What a statement that came as data says of itself (docs/formats.md#cdc_db). */
export type ChangeKind = 'update' | 'delete' | 'create' | 'alter' | 'drop';

/** Why a message's SQL is not the one statement of the kind that the message says; `undefined` when it is. */
export function changeProblem(sql: string, kind: ChangeKind): string | undefined {
  const statements = splitStatements(sql);
  const first = statements.next();
  if (first.done === true) return 'the statement is empty';
  const found = classify(first.value.text);
  if (found.kind !== kind) {
    const carried = found.keyword === '' ? 'another one' : `a statement that begins with ${found.keyword}`;
    return `the message is of kind ${kind} and carries ${carried}`;
  }
  return statements.next().done === true ? undefined : 'the message carries several statements; one message is one';
}

/** The thing is there: duplicate table, object, column, schema, database, function. */
const THERE: ReadonlySet<string> = new Set(['42P07', '42710', '42701', '42P06', '42P04', '42723']);
/** The definition is invalid. Where ALTER adds a primary key, the table has one. */
const INVALID_DEFINITION = '42P16';
/** The thing is gone: undefined table, object, column, function; schema, database. */
const GONE: ReadonlySet<string> = new Set(['42P01', '42704', '42703', '42883', '3F000', '3D000']);
/** Within a table that is there: undefined column, object. */
const PART_GONE: ReadonlySet<string> = new Set(['42703', '42704']);

/**
 * Whether the database's refusal says that what the statement wants is so already, as it is when the statement is delivered a
 * second time: a thing to be created is there, one to be dropped or renamed is gone. What the statement was of the first
 * time cannot be told from that, so a table of that name with other columns counts as well.
 */
export function isDoneAlready(sql: string, kind: ChangeKind, sqlstate: string): boolean {
  switch (kind) {
    case 'create':
      return THERE.has(sqlstate);
    case 'drop':
      return GONE.has(sqlstate);
    case 'alter':
      return isAlteredAlready(sql, sqlstate);
    case 'update':
    case 'delete':
      return false;
  }
}

/** An ALTER fails or is done as a whole, so that one action that is done says that all are. */
function isAlteredAlready(sql: string, sqlstate: string): boolean {
  const reader = new TokenReader(sql);
  const words = new Set<string | undefined>();
  for (; !reader.atEnd; reader.position++) words.add(reader.keyword());
  if (words.has('RENAME')) return GONE.has(sqlstate);
  const hasPrimaryKey = words.has('PRIMARY') && sqlstate === INVALID_DEFINITION;
  return (words.has('ADD') && (THERE.has(sqlstate) || hasPrimaryKey)) || (words.has('DROP') && PART_GONE.has(sqlstate));
}
