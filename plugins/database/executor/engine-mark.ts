import { engineOf } from '../sql/mark.ts';
import { ownStatement } from '../sql/own-statement.ts';
import type { Engine, Session } from './api.ts';

const ENGINE = ownStatement(
  'engine: mark of the database',
  "SELECT shobj_description(oid, 'pg_database') FROM pg_catalog.pg_database WHERE datname = current_database()",
);

/** Reads the mark of the session's database (docs/sink.md#tables-and-rows). */
export async function readEngine(session: Session): Promise<Engine> {
  const result = await session.ask(ENGINE);
  return engineOf(result.rows[0]?.[0] ?? null) ?? 'unmarked';
}
