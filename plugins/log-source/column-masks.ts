import { createHash } from 'node:crypto';
import { javaRegexMatcher, type ConnectorConfig, type ConnectValue } from '../../src/index.ts';
import type { TableColumn } from './catalogue.ts';
import { tableText, type TableNaming } from './table-naming.ts';

/** A rule of `column.mask.…` or `column.truncate.…`. */
export interface ColumnMask {
  readonly matches: (column: string) => boolean;
  readonly parameters: readonly (readonly [string, string])[];
  readonly apply: (value: ConnectValue, column: { readonly length: number | undefined }) => ConnectValue;
}

const MASKED = [['masked', 'true']] as const;
const FIXED = /^column\.mask\.with\.(\d+)\.chars$/;
const TRUNCATED = /^column\.truncate\.to\.(\d+)\.chars$/;
const HASHED = /^column\.mask\.hash\.(v2\.)?([^.]+)\.with\.salt\.(.+)$/;
const MAX_MASK = 1_000_000;

/** The masks in the order of their options in the configuration. @throws Error if a hash algorithm does not exist */
export function columnMasks(config: ConnectorConfig): readonly ColumnMask[] {
  return Object.entries(config).flatMap(([name, value]): ColumnMask[] => {
    const rule = fixedMask(name) ?? truncation(name) ?? hash(name);
    if (rule === undefined) return [];
    const matchers = value.split(',').map((pattern) => javaRegexMatcher(`(?i)${pattern.trim()}`));
    return [{ ...rule, matches: (column) => matchers.some((matches) => matches(column)) }];
  });
}

type Rule = Omit<ColumnMask, 'matches'>;

function fixedMask(name: string): Rule | undefined {
  const [, count] = FIXED.exec(name) ?? [];
  if (count === undefined) return undefined;
  const mask = '*'.repeat(Math.min(MAX_MASK, Number(count)));
  return { parameters: MASKED, apply: () => mask };
}

function truncation(name: string): Rule | undefined {
  const [, count] = TRUNCATED.exec(name) ?? [];
  if (count === undefined) return undefined;
  const apply = (value: ConnectValue): ConnectValue =>
    typeof value === 'string' ? value.slice(0, Number(count)) : value;
  return { parameters: [['truncateLength', count]], apply };
}

/** Parses a hash mask. Version 1 hashes Java's serialized form of the text, version 2 the UTF-8 bytes. */
function hash(name: string): Rule | undefined {
  const [, version, algorithm, salt] = HASHED.exec(name) ?? [];
  if (algorithm === undefined || salt === undefined) return undefined;
  const bytesOf = version === undefined ? javaSerialized : (text: string): Buffer => Buffer.from(text);
  const apply: Rule['apply'] = (value, { length }) => {
    if (typeof value !== 'string') return value;
    const digest = createHash(algorithm.replace('-', '')).update(salt).update(bytesOf(value)).digest('hex');
    return length === undefined ? digest : digest.slice(0, length);
  };
  createHash(algorithm.replace('-', ''));
  return { parameters: MASKED, apply };
}

/** Serializes a string in the format of java.io.ObjectOutputStream. */
function javaSerialized(text: string): Buffer {
  const bytes = Buffer.from(text);
  const isLong = bytes.length > 0xffff;
  const length = Buffer.alloc(isLong ? 8 : 2);
  length.writeUIntBE(bytes.length, isLong ? 2 : 0, isLong ? 6 : 2);
  return Buffer.concat([Buffer.from([0xac, 0xed, 0, 5, isLong ? 0x7c : 0x74]), length, bytes]);
}

/** PostgreSQL adds this number to the declared length in a type modifier. */
const NAMED_LENGTH = 4;

/** The mask of a column, and the parameters that it adds to the schema. */
export function maskOf(
  masks: readonly ColumnMask[],
  table: TableNaming,
  { name, modifier }: TableColumn,
):
  { readonly apply: (value: ConnectValue) => ConnectValue; readonly parameters: ColumnMask['parameters'] } | undefined {
  const mask = masks.find(({ matches }) => matches(`${tableText(table)}.${name}`));
  if (mask === undefined) return undefined;
  const length = modifier > NAMED_LENGTH ? modifier - NAMED_LENGTH : undefined;
  return { apply: (value) => mask.apply(value, { length }), parameters: mask.parameters };
}

/** Matchers of `column.propagate.source.type` and `datatype.propagate.source.type`. */
export interface Propagated {
  readonly columns: readonly ((column: string) => boolean)[];
  readonly types: readonly ((type: string) => boolean)[];
}

export function propagatedTypes(config: ConnectorConfig): Propagated {
  const matchers = (option: string): ((text: string) => boolean)[] =>
    (config[option] ?? '')
      .split(',')
      .filter((pattern) => pattern.trim() !== '')
      .map((pattern) => javaRegexMatcher(`(?i)${pattern.trim()}`));
  return {
    columns: matchers('column.propagate.source.type'),
    types: matchers('datatype.propagate.source.type'),
  };
}

/** Precisions that the JDBC driver reports (org.postgresql.jdbc.TypeInfoCache). */
const PRECISIONS: Readonly<Partial<Record<string, number>>> = {
  int2: 5,
  int4: 10,
  int8: 19,
  oid: 10,
  float4: 8,
  float8: 17,
  bool: 1,
  date: 13,
};

/** Number of characters of a time without the fraction of a second. */
const TIME_LENGTHS: Readonly<Partial<Record<string, number>>> = { time: 8, timetz: 14, timestamp: 22, timestamptz: 28 };
const NO_LIMIT = 2 ** 31 - 1;

/** Schema parameters that describe the declared type of the column. */
export function sourceTypeParameters(
  { columns, types }: Propagated,
  table: TableNaming,
  { name, type, modifier }: TableColumn,
): readonly (readonly [string, string])[] {
  const column = `${tableText(table)}.${name}`;
  const typeName = type.name.toUpperCase();
  const isWanted =
    columns.some((matches) => matches(column)) || types.some((matches) => matches(`${tableText(table)}.${type.name}`));
  if (!isWanted) return [];
  const { length, scale } = lengthAndScale(type.name, modifier);
  return [
    ['__debezium.source.column.type', typeName],
    ['__debezium.source.column.length', String(length)],
    ['__debezium.source.column.scale', String(scale)],
    ['__debezium.source.column.name', name],
  ];
}

function lengthAndScale(type: string, modifier: number): { readonly length: number; readonly scale: number } {
  if (type === 'numeric' && modifier >= NAMED_LENGTH) {
    return { length: (modifier - NAMED_LENGTH) >>> 16, scale: (modifier - NAMED_LENGTH) & 0x7ff };
  }
  const time = TIME_LENGTHS[type];
  if (time !== undefined) {
    const digits = modifier < 0 ? 6 : modifier;
    return { length: time + (digits === 0 ? 0 : digits + 1), scale: digits };
  }
  const precision = PRECISIONS[type];
  if (precision !== undefined) return { length: precision, scale: 0 };
  return { length: modifier > NAMED_LENGTH ? modifier - NAMED_LENGTH : NO_LIMIT, scale: 0 };
}
