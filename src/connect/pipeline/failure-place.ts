import { DatabaseError, DataError } from '../../errors.ts';

/** What a failure is about, beyond its message. */
export interface FailurePlace {
  readonly sqlstate?: string | undefined;
  readonly table?: string | undefined;
  readonly column?: string | undefined;
}

const MAX_CAUSES = 10;

/** What the error, or the first of its causes that can, says of the SQLSTATE, the table and the column. */
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
