import pg from 'pg';
import type { SqlClient } from './sql-client.ts';

/**
 * Creates a schema `hostile` with a trap for each function, operator, type and relation of `pg_catalog` that can have a
 * namesake, and for each pair of types without an operator in `pg_catalog`. A statement that uses a trap fails with
 * `hijacked`.
 */
const TRAPS = `
CREATE SCHEMA hostile;
CREATE TABLE public.traps (kind text, count int);
DO $do$
DECLARE
  r record;
  functions int := 0;
  operators int := 0;
  body text := ' LANGUAGE plpgsql AS $f$ BEGIN RAISE EXCEPTION ''hijacked''; END $f$';
BEGIN
  FOR r IN SELECT p.oid, p.proname AS name, p.proretset AS many, pg_catalog.oidvectortypes(p.proargtypes) AS arguments,
      pg_catalog.format_type(p.prorettype, NULL) AS result
    FROM pg_catalog.pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind <> 'p'
      AND (p.prokind <> 'f' OR NOT EXISTS (SELECT FROM pg_catalog.pg_operator o WHERE o.oprcode = p.oid)) LOOP
    BEGIN
      EXECUTE pg_catalog.format('CREATE FUNCTION hostile.%I(%s) RETURNS %s%s', r.name, r.arguments,
        CASE WHEN r.many THEN 'SETOF ' ELSE '' END, r.result) || body;
      functions := functions + 1;
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
  END LOOP;
  FOR r IN SELECT o.oprname AS name, pg_catalog.format_type(o.oprleft, NULL) AS l, pg_catalog.format_type(o.oprright, NULL) AS r,
      pg_catalog.format_type(o.oprresult, NULL) AS result
    FROM pg_catalog.pg_operator o WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprkind = 'b'
    UNION ALL
    SELECT s, x, y, CASE s WHEN '||' THEN 'text' ELSE 'boolean' END
    FROM pg_catalog.unnest(ARRAY['=', '<>', '>', '>=', '<', '<=', '||']) s,
      pg_catalog.unnest(ARRAY['character varying', 'name', 'text', 'integer', 'bigint', 'smallint', 'oid', '"char"']) x,
      pg_catalog.unnest(ARRAY['character varying', 'name', 'text', 'integer', 'bigint', 'smallint', 'oid', '"char"']) y LOOP
    BEGIN
      operators := operators + 1;
      EXECUTE pg_catalog.format('CREATE FUNCTION hostile.trap_%s(%s, %s) RETURNS %s', operators, r.l, r.r, r.result) || body;
      EXECUTE pg_catalog.format('CREATE OPERATOR hostile.%s (FUNCTION = hostile.trap_%s, LEFTARG = %s, RIGHTARG = %s)',
        r.name, operators, r.l, r.r);
    EXCEPTION WHEN OTHERS THEN operators := operators - 1;
    END;
  END LOOP;
  FOR r IN SELECT typname AS name FROM pg_catalog.pg_type
    WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype = 'b' AND typelem = 0 LOOP
    EXECUTE pg_catalog.format('CREATE DOMAIN hostile.%I AS pg_catalog.int4 CHECK (false)', r.name);
  END LOOP;
  FOR r IN SELECT relname AS name FROM pg_catalog.pg_class
    WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind IN ('r', 'v') LOOP
    EXECUTE pg_catalog.format('CREATE VIEW hostile.%I AS SELECT 1 AS hijacked', r.name);
  END LOOP;
  INSERT INTO public.traps VALUES ('functions', functions), ('operators', operators);
END $do$`;

/**
 * Creates the traps in the client's database, and puts their schema first in the search path of a role. Resolves with
 * the number of traps.
 */
export async function setTraps(sql: SqlClient, role: string): Promise<{ functions: number; operators: number }> {
  const quoted = pg.escapeIdentifier(role);
  await sql.run(
    TRAPS,
    `GRANT USAGE ON SCHEMA hostile TO ${quoted}`,
    `ALTER ROLE ${quoted} SET search_path = hostile, pg_catalog, public`,
  );
  const counts = new Map(
    (await sql.rows('SELECT kind, count FROM public.traps')).map(([kind, count]) => [kind, count]),
  );
  return { functions: Number(counts.get('functions')), operators: Number(counts.get('operators')) };
}
