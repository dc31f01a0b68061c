import type { KnownColumn, KnownTable } from './translation.ts';

/** Output columns of a table or query. */
export interface Columns {
  /** `column` is `undefined` if its type is unknown. */
  readonly list: readonly { readonly name: string; readonly column: KnownColumn | undefined }[];
  /** True if `list` contains all columns. */
  readonly isComplete: boolean;
}

/**
 * The columns of a source that is not analyzed: the result of a function, a table that is not in the catalogue, or a query
 * that is not a SELECT (such as VALUES, or INSERT with RETURNING).
 */
export const UNKNOWN_COLUMNS: Columns = { list: [], isComplete: false };

export function columnsOf(table: KnownTable | undefined): Columns {
  if (table === undefined) return UNKNOWN_COLUMNS;
  return { list: table.columns.map((column) => ({ name: column.name, column })), isComplete: true };
}

/** An entry of the FROM list, under the name that qualifies its columns. */
export interface Relation {
  readonly alias: string | undefined;
  readonly columns: Columns;
}

/** Resolves names at one level of a query; names that are not found are looked up in the enclosing query. */
export class Scope {
  readonly #relations: readonly Relation[];
  /** True if JOIN … USING or NATURAL JOIN merges two columns into one. */
  readonly #mergesColumns: boolean;
  readonly #outer: Scope | undefined;

  constructor(relations: readonly Relation[], mergesColumns: boolean, outer: Scope | undefined) {
    this.#relations = relations;
    this.#mergesColumns = mergesColumns;
    this.#outer = outer;
  }

  /** Resolves a column name of one or more parts; `undefined` if the result is not certain. */
  column(parts: readonly string[]): KnownColumn | undefined {
    const name = parts.at(-1);
    const alias = parts.at(-2);
    const candidates = this.#relations.filter((relation) => alias === undefined || relation.alias === alias);
    const found = candidates.flatMap(({ columns }) => columns.list.filter((column) => column.name === name));
    const [first] = found;
    if (first !== undefined) return found.length === 1 || this.#isMerged(found) ? first.column : undefined;
    const mayBeHere =
      alias === undefined ? candidates.some(({ columns }) => !columns.isComplete) : candidates.length > 0;
    return mayBeHere ? undefined : this.#outer?.column(parts);
  }

  /**
   * Returns the qualified time column of the table that contains this column; `undefined` if the table is uncertain.
   */
  timeBeside(parts: readonly string[]): readonly string[] | undefined {
    const name = parts.at(-1);
    const alias = parts.at(-2);
    const found = this.#relations.filter(
      (relation) =>
        (alias === undefined || relation.alias === alias) &&
        relation.columns.list.some((column) => column.name === name),
    );
    const [relation] = found;
    const time = relation?.columns.list.find(({ column }) => column?.role === 'time')?.name;
    if (relation === undefined || time === undefined || found.length > 1) return undefined;
    return relation.alias === undefined ? [time] : [relation.alias, time];
  }

  #isMerged(found: Columns['list']): boolean {
    return this.#mergesColumns && found.every(({ column }) => column?.type === found[0]?.column?.type);
  }

  /** Returns true if an unqualified name may be a column or a whole row here. */
  knows(name: string): boolean {
    const isHere = this.#relations.some(
      ({ alias, columns }) =>
        alias === name || !columns.isComplete || columns.list.some((column) => column.name === name),
    );
    return isHere || (this.#outer?.knows(name) ?? false);
  }

  /** Returns the columns of `*`, or of `alias.*`. */
  all(alias?: string): Columns {
    const candidates = this.#relations.filter((relation) => alias === undefined || relation.alias === alias);
    if (candidates.length === 0) return UNKNOWN_COLUMNS;
    const list = candidates.flatMap(({ columns }) => columns.list);
    const unique = this.#mergesColumns
      ? list.filter(({ name }, index) => list.findIndex((other) => other.name === name) === index)
      : list;
    return { list: unique, isComplete: candidates.every(({ columns }) => columns.isComplete) };
  }
}
