import { DatabaseError, DataError } from '../../errors.ts';

/** The database object that a failure refers to, in addition to its message. */
export interface FailurePlace {
  readonly sqlstate?: string | undefined;
  readonly table?: string | undefined;
  readonly column?: string | undefined;
}

const MAX_CAUSES = 10;

/** Returns the SQLSTATE, the table and the column, each from the error or the first of its causes that has it. */
export function failurePlace(error: Error): FailurePlace {
  let sqlstate: string | undefined;
  let table: string | undefined;
  let column: string | undefined;
  let current: unknown = error;
  for (let depth = 0; current instanceof Error && depth < MAX_CAUSES; depth++) {
    if (current instanceof DatabaseError) sqlstate ??= current.sqlstate;
    if (current instanceof DatabaseError || current instanceof DataError) {
      table ??= current.table;
      column ??= current.column;
    }
    current = current.cause;
  }
  return { sqlstate, table, column };
}
