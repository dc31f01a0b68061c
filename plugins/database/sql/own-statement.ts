/**
 * A statement of our own: its text does not come from a user. All of them are declared here, so that a test can run every one
 * under a search path that an attacker has filled (test/integration/own-statements.test.ts).
 */
export interface OwnStatement {
  /** What it is for; unique. */
  readonly name: string;
  readonly text: string;
}

/**
 * How a statement is safe from what stands in front of `pg_catalog` in the search path.
 *
 * - `asked`: it runs with `search_path` set to `pg_catalog, pg_temp` (`Session.ask`), for the length of the statement. Tables are
 *   named with their schemas. The schemas of the session's own search path are in `pg_catalog.current_setting('sluice.schemas')`,
 *   as the text of a `name[]`.
 * - `qualified`: it runs in a session as it is, because it changes the session's settings, or needs its search path. All
 *   functions and types are named with their schema, and operators as `OPERATOR(pg_catalog.=)`.
 */
export type OwnStatementKind = 'asked' | 'qualified';

/** Makes a statement's text from names in quotes, of tables with their schema. */
export type TextOn = (...names: readonly string[]) => string;

export interface DeclaredStatement {
  readonly name: string;
  readonly kind: OwnStatementKind;
  /** With the names that have to be filled in; most statements need none. */
  readonly textOn: TextOn;
}

const declared = new Map<string, DeclaredStatement>();

/** Declares a statement that `Session.ask` runs. Throws when the name is taken. */
export function ownStatement(name: string, text: string): OwnStatement {
  return ownStatementOn(name, () => text)();
}

/** The same for a statement with names that have to be filled in, in quotes and, of tables, with their schema. */
export function ownStatementOn(name: string, textOn: TextOn): (...names: readonly string[]) => OwnStatement {
  declare({ name, kind: 'asked', textOn });
  return (...names) => ({ name, text: textOn(...names) });
}

/** Declares a statement, or a script of several, with qualified names throughout, and gives its text. */
export function qualifiedStatement(name: string, text: string): string {
  declare({ name, kind: 'qualified', textOn: () => text });
  return text;
}

/** The same for a statement with names that have to be filled in. */
export function qualifiedStatementOn(name: string, textOn: TextOn): TextOn {
  declare({ name, kind: 'qualified', textOn });
  return textOn;
}

/**
 * All that were declared by the modules loaded so far.
 * @internal
 */
export function declaredStatements(): readonly DeclaredStatement[] {
  return [...declared.values()];
}

function declare(statement: DeclaredStatement): void {
  if (declared.has(statement.name)) throw new Error(`the statement "${statement.name}" is declared twice`);
  declared.set(statement.name, statement);
}
