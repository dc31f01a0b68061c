import type { ConnectValue, Schema } from '../../src/index.ts';
import type { TableColumn } from './catalogue.ts';
import type { ColumnRule } from './column-types.ts';

const NUMBER = /^\(?'?(-?\d+(?:\.\d+)?)'?\)?(?:::[\w ."]+(?:\([\d, ]+\))?)?$/;
const TEXT = /^'((?:[^']|'')*)'(?:::[\w ."]+(?:\([\d, ]+\))?(?:\[\])?)?$/;

/**
 * Converts the default of a column to a value of its schema; `undefined` if the schema gets no default. Only literals are converted. The
 * result of an expression is unknown; then a required column has the zero value of its type as default, as in Debezium.
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
