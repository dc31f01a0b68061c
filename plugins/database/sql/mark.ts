import type { ColumnRole } from '../../../src/data/row-batch.ts';

/**
 * Marks are the first word of a comment in the database, so that `pg_dump` carries them; the user's own text may follow
 * after a blank or a line break:
 *
 * | comment on | first word | meaning |
 * |---|---|---|
 * | a column | `sluice:tag` | tag of a time-series table |
 * | a column | `sluice:primary-tag` | primary tag: part of the primary key |
 * | the database | `sluice:time-series` | time-series database (`COMMENT ON DATABASE`) |
 * | the database | `sluice:relational` | relational database, refuses the time-series formats |
 */
const COLUMN_MARK = /^\s*sluice:(tag|primary-tag)(?=\s|$)/;
const ENGINE_MARK = /^\s*sluice:(time-series|relational)(?=\s|$)/;

/** The role that a column's comment gives it; `undefined` when it gives none. */
export function columnRole(comment: string | null): 'tag' | 'primary-tag' | undefined {
  return COLUMN_MARK.exec(comment ?? '')?.[1] as 'tag' | 'primary-tag' | undefined;
}

/** The mark to write for a role; `undefined` for roles that need none. */
export function columnMark(role: ColumnRole): string | undefined {
  return role === 'tag' || role === 'primary-tag' ? `sluice:${role}` : undefined;
}

/** The engine that a database's comment names. */
export function engineOf(comment: string | null): 'time-series' | 'relational' | undefined {
  return ENGINE_MARK.exec(comment ?? '')?.[1] as 'time-series' | 'relational' | undefined;
}

/** A database's comment with the mark for `engine` in front and the user's own text kept. */
export function withEngineMark(comment: string | null, engine: 'time-series' | 'relational'): string {
  const own = (comment ?? '').replace(ENGINE_MARK, '').trim();
  return own.length === 0 ? `sluice:${engine}` : `sluice:${engine} ${own}`;
}
