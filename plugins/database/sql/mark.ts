import type { ColumnRole } from '../../../src/data/row-batch.ts';

/**
 * Marks are the first word of a comment (`COMMENT ON …`), so that `pg_dump` preserves them. The user's own text may
 * follow after a blank or line break:
 * | comment on | first word | meaning |
 * |---|---|---|
 * | a column | `sluice:tag` | tag of a time-series table |
 * | a column | `sluice:primary-tag` | primary tag: part of the primary key |
 * | the database | `sluice:time-series` | time-series database (`COMMENT ON DATABASE`) |
 * | the database | `sluice:relational` | relational database, refuses the time-series formats |
 */
const COLUMN_MARK = /^\s*sluice:(tag|primary-tag)(?=\s|$)/;
const ENGINE_MARK = /^\s*sluice:(time-series|relational)(?=\s|$)/;

/** Returns the role that the column comment assigns, if any. */
export function columnRole(comment: string | null): 'tag' | 'primary-tag' | undefined {
  return COLUMN_MARK.exec(comment ?? '')?.[1] as 'tag' | 'primary-tag' | undefined;
}

/** Returns the mark of a role; `undefined` for roles without a mark. */
export function columnMark(role: ColumnRole): string | undefined {
  return role === 'tag' || role === 'primary-tag' ? `sluice:${role}` : undefined;
}

/** Returns the engine that the database comment assigns, if any. */
export function engineOf(comment: string | null): 'time-series' | 'relational' | undefined {
  return ENGINE_MARK.exec(comment ?? '')?.[1] as 'time-series' | 'relational' | undefined;
}

/** Prepends the mark for `engine` to a database comment and keeps the user's own text. */
export function withEngineMark(comment: string | null, engine: 'time-series' | 'relational'): string {
  const own = (comment ?? '').replace(ENGINE_MARK, '').trim();
  return own.length === 0 ? `sluice:${engine}` : `sluice:${engine} ${own}`;
}
