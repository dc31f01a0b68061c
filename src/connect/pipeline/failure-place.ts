import { DatabaseError, DataError } from '../../errors.ts';

/** The subject of a failure, beyond its message. */
export interface FailurePlace {
  readonly sqlstate?: string | undefined;
  readonly table?: string | undefined;
  readonly column?: string | undefined;
}

const MAX_CAUSES = 10;

/** The SQLSTATE, table and column of the error, or of the first of its causes that has them. */
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
