import { Ajv, type ErrorObject } from 'ajv';
import { shown } from '../message-text.ts';
import type { DecodedStatement } from '../format.ts';
import { MAX_COLUMNS, type JsonDbColumn } from './json-db-columns.ts';
import { notJson } from './json-db-envelope.ts';
import type { JsonCursor } from '../../../../src/json/json-cursor.ts';
import { KIND_OF_FAMILY, valueFamily } from './type-families.ts';

/** The table of the rows, as described by the message. */
export interface CdcTable {
  readonly database: string;
  readonly schema: string | undefined;
  readonly name: string;
  readonly columns: readonly JsonDbColumn[];
  /**
   * Equal if database, schema, table, column names and the texts of the types are equal. White space outside these
   * texts and the order of JSON members make no difference.
   */
  readonly signature: string;
}

/** A parsed message with rows. */
export interface CdcRows {
  readonly kind: 'rows';
  readonly table: CdcTable;
  /** The text up to and including the `[` of `columnvalues`, and the text from its `]`. */
  readonly prefix: string;
  readonly suffix: string;
}

/** A parsed message with a statement. */
export interface CdcStatement {
  readonly kind: 'statement';
  readonly database: string;
  readonly statement: Omit<DecodedStatement, 'origin'>;
}

export type CdcMessage = CdcRows | CdcStatement;

type StatementKind = Exclude<DecodedStatement['kind'], 'truncate'>;

interface Envelope {
  readonly kind: 'insert' | 'snapshot' | StatementKind;
  readonly database: string;
  readonly schema?: string | null;
  readonly table?: string | null;
  readonly statement?: string | null;
  readonly columnnames?: readonly string[] | null;
  readonly columntypes?: readonly string[] | null;
}

const TEXTS = { type: ['array', 'null'], items: { type: 'string', minLength: 1 } };
const isEnvelope = new Ajv({ allowUnionTypes: true }).compile<Envelope>({
  type: 'object',
  required: ['kind', 'database'],
  properties: {
    kind: { enum: ['insert', 'snapshot', 'update', 'delete', 'create', 'alter', 'drop'] },
    database: { type: 'string', minLength: 1 },
    schema: { type: ['string', 'null'] },
    table: { type: ['string', 'null'] },
    statement: { type: ['string', 'null'] },
    columnnames: TEXTS,
    columntypes: TEXTS,
  },
});

const MEMBERS = ['kind', 'database', 'schema', 'table', 'statement', 'columnnames', 'columntypes'];

/** Parses a message. Returns a string that describes the problem if it is invalid. */
export function readCdcMessage(cursor: JsonCursor): CdcMessage | string {
  const parts = readMembers(cursor);
  if (typeof parts === 'string') return parts;
  const { described: envelope, valuesStart: start, valuesEnd: end } = parts;
  if (!isEnvelope(envelope)) return problemOf(isEnvelope.errors?.[0]);
  const { kind } = envelope;
  if (kind !== 'insert' && kind !== 'snapshot') return statementOf({ ...envelope, kind });
  if (start === undefined || end === undefined) return `the message is of kind ${kind} and has no "columnvalues"`;
  const table = tableOf(envelope);
  if (typeof table === 'string') return table;
  return { kind: 'rows', table, prefix: cursor.text.slice(0, start), suffix: cursor.text.slice(end) };
}

interface Members {
  readonly described: Readonly<Record<string, unknown>>;
  /** The positions after the `[` and at the `]` of `columnvalues`; `undefined` if it is absent or null. */
  readonly valuesStart: number | undefined;
  readonly valuesEnd: number | undefined;
}

/** Reads the outermost object, thereby verifying that the whole message is JSON. */
function readMembers(cursor: JsonCursor): Members | string {
  const { text } = cursor;
  if (cursor.atEnd()) return 'the message is empty';
  if (!cursor.openObject()) return notJson(cursor);
  const described: Record<string, unknown> = {};
  const seen = new Set<string>();
  let valuesStart: number | undefined;
  let valuesEnd: number | undefined;
  if (!cursor.closeObject()) {
    do {
      const key = cursor.string();
      if (key === undefined || !cursor.takeColon()) return notJson(cursor);
      if (seen.has(key)) return `the key ${shown(key)} occurs twice`;
      seen.add(key);
      const start = cursor.position;
      const kind = cursor.peek();
      if (!cursor.value()) return notJson(cursor);
      if (MEMBERS.includes(key)) described[key] = JSON.parse(text.slice(start, cursor.position));
      if (key !== 'columnvalues' || kind === 'null') continue;
      if (kind !== 'array') return '"columnvalues" must be an array of rows, each an array of values';
      valuesStart = start + 1;
      valuesEnd = cursor.position - 1;
    } while (cursor.takeComma());
    if (!cursor.closeObject()) return notJson(cursor);
  }
  return cursor.atEnd() ? { described, valuesStart, valuesEnd } : notJson(cursor);
}

function statementOf(envelope: Envelope & { kind: StatementKind }): CdcMessage | string {
  const { kind, database, schema, table, statement } = envelope;
  if ((statement ?? '').trim() === '') return `the message is of kind ${kind} and has no "statement"`;
  return {
    kind: 'statement',
    database,
    statement: { sql: statement ?? '', kind, schema: named(schema), table: named(table) },
  };
}

function tableOf(envelope: Envelope): CdcTable | string {
  const { kind, database, table, columnnames: names, columntypes: types } = envelope;
  const name = named(table);
  const schema = named(envelope.schema);
  if (name === undefined) return `the message is of kind ${kind} and has no "table"`;
  if (!names?.length) return `the message is of kind ${kind} and has no "columnnames"`;
  if (types?.length !== names.length) {
    return `"columnnames" has ${String(names.length)} names and "columntypes" ${String(types?.length ?? 0)} types`;
  }
  if (names.length > MAX_COLUMNS) return `a table cannot have ${String(names.length)} columns`;
  const repeated = names.find((column, index) => names.indexOf(column) !== index);
  if (repeated !== undefined) return `the column ${shown(repeated)} of table ${name} is listed twice`;
  const columns = names.map((column, index) => columnOf(column, types[index] ?? ''));
  return { database, schema, name, columns, signature: JSON.stringify([database, schema, name, names, types]) };
}

/**
 * Describes a column. All columns have the role `data`: rows are written only to existing tables, whose definition
 * contains the actual roles.
 */
function columnOf(name: string, type: string): JsonDbColumn {
  const family = valueFamily(type);
  const shape = { name, role: 'data', type: type.trim().toUpperCase(), length: undefined, nullable: true } as const;
  return { ...shape, family, kind: KIND_OF_FAMILY[family], isNameTag: false };
}

/** Empty names are treated as absent. */
function named(name: string | null | undefined): string | undefined {
  return name === null || name === '' ? undefined : name;
}

/** Formats an error such as `columnnames[0] must be string`. */
function problemOf(error: ErrorObject | undefined): string {
  const path = (error?.instancePath ?? '')
    .slice(1)
    .replace(/\/(\d+)/g, '[$1]')
    .replace(/\//g, '.');
  const missing: unknown = error?.params.missingProperty;
  if (typeof missing === 'string') return `the message has no "${missing}"`;
  const allowed: unknown = error?.params.allowedValues;
  if (Array.isArray(allowed)) return `"${path}" must be one of ${allowed.join(', ')}`;
  return `"${path}" ${error?.message ?? 'is invalid'}`;
}
