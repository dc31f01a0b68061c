import type { KnownColumn, KnownTable } from './translation.ts';

/** What a table or a query gives to those who read from it. */
export interface Columns {
  /** `column` is absent where the type is not known. */
  readonly list: readonly { readonly name: string; readonly column: KnownColumn | undefined }[];
  /** Whether it has no others. */
  readonly isComplete: boolean;
}

/** Of what could not be found out about: functions, unknown tables, queries of other kinds. */
export const UNKNOWN_COLUMNS: Columns = { list: [], isComplete: false };

export function columnsOf(table: KnownTable | undefined): Columns {
  if (table === undefined) return UNKNOWN_COLUMNS;
  return { list: table.columns.map((column) => ({ name: column.name, column })), isComplete: true };
}

/** A table of a query's FROM, under the name by which its columns are reached. */
export interface Relation {
  readonly alias: string | undefined;
  readonly columns: Columns;
}

/** What the names of one level of a query mean; those that it does not have are those of the query around it. */
export class Scope {
  readonly #relations: readonly Relation[];
  /** JOIN … USING and NATURAL JOIN make one of two columns. */
  readonly #mergesColumns: boolean;
  readonly #outer: Scope | undefined;

  constructor(relations: readonly Relation[], mergesColumns: boolean, outer: Scope | undefined) {
    this.#relations = relations;
    this.#mergesColumns = mergesColumns;
    this.#outer = outer;
  }

  /** The column that a name of one or more parts means; `undefined` when that is not certain. */
  column(parts: readonly string[]): KnownColumn | undefined {
    const name = parts.at(-1);
    const alias = parts.at(-2);
    const places = this.#relations.filter((relation) => alias === undefined || relation.alias === alias);
    const found = places.flatMap(({ columns }) => columns.list.filter((column) => column.name === name));
    const [first] = found;
    if (first !== undefined) return found.length === 1 || this.#isMerged(found) ? first.column : undefined;
    const mayBeHere = alias === undefined ? places.some(({ columns }) => !columns.isComplete) : places.length > 0;
    return mayBeHere ? undefined : this.#outer?.column(parts);
  }

  /** The time column of the table that has the column of this name, under its alias; `undefined` when that is not certain. */
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

  /** Whether a name alone means something here, or may: a column, or a whole row. */
  knows(name: string): boolean {
    const isHere = this.#relations.some(
      ({ alias, columns }) =>
        alias === name || !columns.isComplete || columns.list.some((column) => column.name === name),
    );
    return isHere || (this.#outer?.knows(name) ?? false);
  }

  /** What `*` stands for, or `alias.*`. */
  all(alias?: string): Columns {
    const places = this.#relations.filter((relation) => alias === undefined || relation.alias === alias);
    if (places.length === 0) return UNKNOWN_COLUMNS;
    const list = places.flatMap(({ columns }) => columns.list);
    const unique = this.#mergesColumns
      ? list.filter(({ name }, index) => list.findIndex((other) => other.name === name) === index)
      : list;
    return { list: unique, isComplete: places.every(({ columns }) => columns.isComplete) };
  }
}
