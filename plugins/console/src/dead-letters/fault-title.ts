import type { DeadLetterGroup } from '../common/answers.ts';
import { quotedName, tableIn } from '../common/sql-names.ts';

type Fault = Pick<DeadLetterGroup, 'stage' | 'message' | 'sqlstate' | 'table' | 'column' | 'class'>;

/** The title of a fault, short labels for its kind and place, and a statement that may fix it. */
interface FaultTitle {
  readonly title: string;
  /** Labels: the stage, the SQLSTATE or exception class, and the table and column. */
  readonly chips: readonly string[];
  /** A statement that may fix the fault; `undefined` if the console does not know one. */
  readonly fix: string | undefined;
}

const TOO_LONG = /\(character(?: varying)?\((\d+)\)\)/;

/** `schema`: the schema of tables whose name has none; `null`: the default of the database. */
export function faultTitle(fault: Fault, schema: string | null = null): FaultTitle {
  const { stage, message, sqlstate, table, column, class: className } = fault;
  const kind = sqlstate ?? className?.slice(className.lastIndexOf('.') + 1);
  const place = [table, column].filter(isFilled).join('.');
  const chips = [stage, kind, place].filter(isFilled);
  const [, length] = TOO_LONG.exec(message ?? '') ?? [];
  if (sqlstate === '22001' && isFilled(table) && isFilled(column)) {
    const type = length === undefined ? 'its type' : `varchar(${length})`;
    const fix = `alter table ${tableIn(schema, table)} alter column ${quotedName(column)} type text`;
    return { title: `${column} is too long for ${type}`, chips, fix };
  }
  if (sqlstate === '23502' && isFilled(table) && isFilled(column)) {
    const fix = `alter table ${tableIn(schema, table)} alter column ${quotedName(column)} drop not null`;
    return { title: `${column} is NULL, and its column takes none`, chips, fix };
  }
  return { title: isFilled(message) ? message : (kind ?? ''), chips, fix: undefined };
}

function isFilled(part: string | null | undefined): part is string {
  return part !== undefined && part !== null && part !== '';
}
