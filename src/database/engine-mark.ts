import { engineOf } from '../sql/mark.ts';
import type { Engine, Session } from './api.ts';

const ENGINE_QUERY =
  "SELECT shobj_description(oid, 'pg_database') FROM pg_catalog.pg_database WHERE datname = current_database()";

/** What the mark of the session's database says (design/decisions.md, "Engine"). */
export async function readEngine(session: Session): Promise<Engine> {
  const result = await session.query(ENGINE_QUERY);
  return engineOf(result.rows[0]?.[0] ?? null) ?? 'unmarked';
}
