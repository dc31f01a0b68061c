import type { SourceTables } from '../common/answers.ts';
import { short } from '../common/format.ts';
import { texts } from '../texts/editor.ts';

export type SourceTable = SourceTables['tables'][number];

const SPECIAL = /[.*+?^${}()|[\]\\]/g;

/** The value of `table.include` for exactly these tables; `undefined` if no table is chosen, so that the source reads all tables. */
export function includeOf(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : names.map((name) => name.replace(SPECIAL, '\\$&')).join(',');
}

/** Names of the tables that the expressions of `table.include` match; empty if the option is not set. */
export function chosenTables(tables: readonly SourceTable[], include: string | undefined): readonly string[] {
  const expressions = (include ?? '').split(',').flatMap((each) => (each.trim() === '' ? [] : [each.trim()]));
  return tables.flatMap(({ name }) => (expressions.some((each) => matches(each, name)) ? [name] : []));
}

/** Evaluates a Java regular expression as a JavaScript one. Their differences do not matter for table names. */
function matches(expression: string, name: string): boolean {
  try {
    return new RegExp(`^(?:${expression})$`).test(name);
  } catch {
    return false;
  }
}

/** A sentence that says which tables a new source will read. */
export function sourceSentence(
  tables: readonly SourceTable[] | undefined,
  { include, mode, prefix }: { readonly include: string | undefined; readonly mode: string; readonly prefix: string },
): string {
  const topics = prefix === '' ? texts.toTopics : texts.toPrefixed(prefix);
  if (tables === undefined)
    return include === undefined ? texts.readsAllUnknown(topics) : texts.readsSome(include, topics);
  const read = tables.filter(({ problem }) => problem === null);
  const chosen = include === undefined ? read : read.filter(({ name }) => chosenTables(tables, include).includes(name));
  const rows = chosen.reduce((sum, each) => sum + (each.rows ?? 0), 0);
  const amount = texts.aboutRows(short(rows), mode === 'bulk');
  if (include === undefined) return texts.readsAll(chosen.length, amount, topics);
  if (chosen.length === 0) return texts.readsNone;
  return texts.readsChosen(
    chosen.map(({ name }) => name),
    amount,
    topics,
  );
}
