import { Ajv, type ErrorObject } from 'ajv';
import { describeTable, type ColumnText, type JsonDbTable } from './json-db-columns.ts';
import type { JsonCursor } from '../../../../src/json/json-cursor.ts';

/** A parsed message: its description, and the position of its rows. */
export interface JsonDbEnvelope {
  readonly table: JsonDbTable;
  /** The text up to and including the `[` of `data`, and the text from its `]`. */
  readonly prefix: string;
  readonly suffix: string;
}

interface EnvelopeText {
  readonly table: string;
  readonly columns: readonly ColumnText[];
  readonly tags?: readonly ColumnText[] | null;
}

const COLUMN = {
  type: 'object',
  required: ['name', 'type'],
  properties: {
    name: { type: 'string', minLength: 1 },
    type: { type: 'string', minLength: 1 },
    length: { type: ['integer', 'null'] },
    nullable: { type: ['boolean', 'null'] },
    primary: { type: ['boolean', 'null'] },
    isPrimary: { type: ['boolean', 'null'] },
  },
};

const isEnvelope = new Ajv({ allowUnionTypes: true }).compile<EnvelopeText>({
  type: 'object',
  required: ['table', 'columns'],
  properties: {
    table: { type: 'string', minLength: 1 },
    columns: { type: 'array', minItems: 1, items: COLUMN },
    tags: { type: ['array', 'null'], items: COLUMN },
  },
});

const ONE_LINE =
  'a message must contain one complete JSON object; an object that is formatted over several lines must not be sent line by line';

/** Parses a message. Returns a string that describes the problem if it is invalid. */
export function readEnvelope(cursor: JsonCursor, tagsWhenAbsent: 'table-name' | 'none'): JsonDbEnvelope | string {
  const parts = readParts(cursor);
  if (typeof parts === 'string') return parts;
  const envelope: unknown = parts.described;
  if (!isEnvelope(envelope)) return envelopeProblem(isEnvelope.errors?.[0]);
  if (parts.dataStart === undefined || parts.dataEnd === undefined)
    return 'the message has no "data", an array of rows';
  const table = describeTable(envelope.table, envelope.columns, envelope.tags ?? [], tagsWhenAbsent);
  if (typeof table === 'string') return table;
  return { table, prefix: cursor.text.slice(0, parts.dataStart), suffix: cursor.text.slice(parts.dataEnd) };
}

interface Parts {
  readonly described: Readonly<Record<string, unknown>>;
  /** The positions after the `[` and at the `]` of `data`. */
  readonly dataStart: number | undefined;
  readonly dataEnd: number | undefined;
}

/** Reads the outermost object, thereby verifying that the whole message is JSON. */
function readParts(cursor: JsonCursor): Parts | string {
  const { text } = cursor;
  cursor.skipSpace();
  if (cursor.atEnd()) return 'the message is empty';
  if (!cursor.openObject()) return `expected a JSON object, found ${shownAt(cursor)}: ${ONE_LINE}`;
  const described: Record<string, unknown> = {};
  const seen = new Set<string>();
  let dataStart: number | undefined;
  let dataEnd: number | undefined;
  if (!cursor.closeObject()) {
    do {
      const key = cursor.string();
      if (key === undefined || !cursor.takeColon()) return notJson(cursor);
      if (seen.has(key)) return `the key ${JSON.stringify(key)} occurs twice`;
      seen.add(key);
      const start = cursor.position;
      const kind = cursor.peek();
      if (!cursor.value()) return notJson(cursor);
      const end = cursor.position;
      if (key === 'data') {
        if (kind !== 'array') return `"data" must be an array of rows, not ${kind ?? 'nothing'}`;
        dataStart = start + 1;
        dataEnd = end - 1;
      } else if (key === 'table' || key === 'columns' || key === 'tags') {
        described[key] = JSON.parse(text.slice(start, end));
      }
    } while (cursor.takeComma());
    if (!cursor.closeObject()) return notJson(cursor);
  }
  if (!cursor.atEnd()) return `after the JSON object came ${shownAt(cursor)}: a message must contain one object`;
  return { described, dataStart, dataEnd };
}

/** Describes the syntax error at the cursor's position. */
export function notJson(cursor: JsonCursor): string {
  const { position, text } = cursor;
  if (position >= text.length) return `the JSON ends too early, after ${String(text.length)} characters: ${ONE_LINE}`;
  return `not JSON at character ${String(position + 1)}, ${shownAt(cursor)}`;
}

function shownAt({ text, position }: JsonCursor): string {
  return JSON.stringify(text.slice(position, position + 20));
}

/** Formats an error such as `columns[0].type must be string`. */
function envelopeProblem(error: ErrorObject | undefined): string {
  if (error === undefined) return 'the message does not describe a table';
  const path = error.instancePath
    .slice(1)
    .replace(/\/(\d+)/g, '[$1]')
    .replace(/\//g, '.');
  const missing: unknown = error.params.missingProperty;
  if (typeof missing === 'string') return `${path === '' ? 'the message' : path} has no "${missing}"`;
  return `${path} ${error.message ?? 'is invalid'}`;
}
