import type { ConnectValue, Schema } from '../../src/index.ts';
import type { TableColumn } from './catalogue.ts';
import type { ColumnRule } from './column-types.ts';

const NUMBER = /^\(?'?(-?\d+(?:\.\d+)?)'?\)?(?:::[\w ."]+(?:\([\d, ]+\))?)?$/;
const TEXT = /^'((?:[^']|'')*)'(?:::[\w ."]+(?:\([\d, ]+\))?(?:\[\])?)?$/;

/**
 * The default of a column as a value of its schema; `undefined` if the schema has none. A literal is taken as it is. The result of an
 * expression is not known; a required column then has the zero of its type, as in Debezium.
 */
export function defaultValue(
  { defaultSql, isRequired }: TableColumn,
  rule: ColumnRule,
  schema: Schema,
): ConnectValue | undefined {
  if (defaultSql === undefined || /^NULL\b/i.test(defaultSql)) return undefined;
  const literal = literalText(defaultSql);
  if (literal === undefined) return isRequired ? rule.zero(schema) : undefined;
  try {
    const value = rule.read(literal, schema);
    return value ?? undefined;
  } catch {
    return isRequired ? rule.zero(schema) : undefined;
  }
}

function literalText(sql: string): string | undefined {
  if (sql === 'true') return 't';
  if (sql === 'false') return 'f';
  return NUMBER.exec(sql)?.[1] ?? TEXT.exec(sql)?.[1]?.replaceAll("''", "'");
}
