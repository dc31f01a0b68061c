import assert from 'node:assert/strict';
import type { ColumnRole } from '../../../../../../src/data/row-batch.ts';
import { translate, translateRefused } from '../../../../../../plugins/database/sql/translate/translate.ts';
import type {
  KnownColumn,
  KnownTable,
  TranslationContext,
} from '../../../../../../plugins/database/sql/translate/translation.ts';

function column(name: string, type: string, role: ColumnRole = 'data'): KnownColumn {
  return { name, type, role };
}

/** A time-series table to which a column was added after its tags. */
const METERS: KnownTable = {
  columns: [
    column('ts', 'timestamp(3) with time zone', 'time'),
    column('power', 'integer'),
    column('location', 'character varying', 'primary-tag'),
    column('floor', 'smallint', 'tag'),
    column('added', 'real'),
  ],
  key: ['ts', 'location'],
};

/** An ordinary table with times of every precision. */
const LOG: KnownTable = {
  columns: [
    column('id', 'bigint'),
    column('at', 'timestamp with time zone', 'time'),
    column('seen', 'timestamp(6) without time zone'),
    column('day', 'timestamp(0) with time zone'),
    column('Note', 'text'),
  ],
  key: ['id'],
};

const KEYLESS: KnownTable = { columns: [column('a', 'integer'), column('b', 'text')], key: [] };

const TABLES: ReadonlyMap<string, KnownTable> = new Map([
  ['meters', METERS],
  ['log', LOG],
  ['keyless', KEYLESS],
]);

/** Database `plant` with the tables above in schema `public`. */
export const CONTEXT: TranslationContext = {
  database: 'plant',
  table: ({ schema, name }) => (schema === undefined || schema === 'public' ? TABLES.get(name) : undefined),
};

/** The statements that a translation runs. */
export function statements(sql: string, context = CONTEXT): readonly string[] {
  const translation = translate(sql, context);
  assert.equal(translation.kind, 'run', `${sql}: ${JSON.stringify(translation)}`);
  return translation.statements;
}

export function assertUnchanged(...sqls: readonly string[]): void {
  for (const sql of sqls) assert.deepEqual(statements(sql), [sql]);
}

/** `sqlstate message` of a refusal. */
export function refusal(sql: string, context = CONTEXT): string {
  const translation = translate(sql, context);
  assert.equal(translation.kind, 'refuse', `${sql}: ${JSON.stringify(translation)}`);
  return `${translation.sqlstate} ${translation.message}`;
}

/** The statement that is run after an error with `sqlstate`; `undefined` if there is none. */
export function afterRefusal(sql: string, sqlstate: string, context = CONTEXT): string | undefined {
  const translation = translateRefused(sql, sqlstate, context);
  if (translation === undefined) return undefined;
  assert.equal(translation.kind, 'run', `${sql}: ${JSON.stringify(translation)}`);
  assert.equal(translation.statements.length, 1);
  return translation.statements[0];
}
