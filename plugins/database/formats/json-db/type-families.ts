import type { CellKind } from '../../../../src/data/row-batch.ts';
import { DatabaseError } from '../../../../src/errors.ts';
import { postgresType } from '../../sql/type-names.ts';

/** Determines how the JSON values of a type are read. */
export type ValueFamily =
  'time' | 'int2' | 'int4' | 'int8' | 'float' | 'numeric' | 'bool' | 'text' | 'bytes' | 'json' | 'other';

export const KIND_OF_FAMILY: Readonly<Record<ValueFamily, CellKind>> = {
  time: 'time',
  int2: 'int',
  int4: 'int',
  int8: 'int',
  float: 'float',
  numeric: 'numeric',
  bool: 'bool',
  text: 'text',
  bytes: 'bytes',
  json: 'json',
  other: 'text',
};

const FAMILIES: ReadonlyMap<string, ValueFamily> = new Map([
  ['timestamptz', 'time'],
  ['timestamp', 'time'],
  ['int2', 'int2'],
  ['int4', 'int4'],
  ['int8', 'int8'],
  ['float4', 'float'],
  ['float8', 'float'],
  ['numeric', 'numeric'],
  ['bool', 'bool'],
  ['char', 'text'],
  ['varchar', 'text'],
  ['text', 'text'],
  ['bytea', 'bytes'],
  ['json', 'json'],
  ['jsonb', 'json'],
]);

/**
 * Returns the family of a documented type name. The family is `other` for unknown types and for types without a family of
 * their own (DATE, INTERVAL, UUID), whose values PostgreSQL reads as text.
 */
export function valueFamily(typeName: string): ValueFamily {
  try {
    const [name = ''] = postgresType(typeName, undefined).split('(', 1);
    return FAMILIES.get(name) ?? 'other';
  } catch (error) {
    if (error instanceof DatabaseError) return 'other';
    throw error;
  }
}
