/**
 * An internal statement, whose text does not come from a user. Internal statements with a fixed text that use
 * functions, types or operators are declared here, so that a test can run each of them under a search path that an
 * attacker controls (test/integration/own-statements.test.ts).
 */
export interface OwnStatement {
  /** Unique description of the purpose. */
  readonly name: string;
  readonly text: string;
}

/**
 * How a statement is protected from objects in schemas that precede `pg_catalog` in the search path.
 * - `asked`: runs with `search_path` set to `pg_catalog, pg_temp` for its duration (`Session.ask`). Tables are
 *   qualified with their schemas. The schemas of the session's own search path are available as the text of a `name[]`
 *   in `pg_catalog.current_setting('sluice.schemas')`.
 * - `qualified`: runs with the session's search path, because it needs that path or changes settings. All functions and
 *   types are qualified, and operators are written as `OPERATOR(pg_catalog.=)`.
 */
export type OwnStatementKind = 'asked' | 'qualified';

/** Builds the text of a statement from quoted identifiers; table names include their schema. */
export type TextOn = (...names: readonly string[]) => string;

export interface DeclaredStatement {
  readonly name: string;
  readonly kind: OwnStatementKind;
  /** Most statements take no names. */
  readonly textOn: TextOn;
}

const declared = new Map<string, DeclaredStatement>();

/** Declares a statement for `Session.ask`. Throws if the name is already declared. */
export function ownStatement(name: string, text: string): OwnStatement {
  return ownStatementOn(name, () => text)();
}

/** Like `ownStatement`, for a statement with identifiers to fill in. */
export function ownStatementOn(name: string, textOn: TextOn): (...names: readonly string[]) => OwnStatement {
  declare({ name, kind: 'asked', textOn });
  return (...names) => ({ name, text: textOn(...names) });
}

/** Declares a statement or script whose names are all qualified, and returns its text. */
export function qualifiedStatement(name: string, text: string): string {
  declare({ name, kind: 'qualified', textOn: () => text });
  return text;
}

/** Like `qualifiedStatement`, for a statement with identifiers to fill in. */
export function qualifiedStatementOn(name: string, textOn: TextOn): TextOn {
  declare({ name, kind: 'qualified', textOn });
  return textOn;
}

/**
 * Returns all statements declared by the modules loaded so far.
 * @internal
 */
export function declaredStatements(): readonly DeclaredStatement[] {
  return [...declared.values()];
}

function declare(statement: DeclaredStatement): void {
  if (declared.has(statement.name)) throw new Error(`the statement "${statement.name}" is declared twice`);
  declared.set(statement.name, statement);
}
