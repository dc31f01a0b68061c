import { ConnectError, toError } from '../../src/index.ts';
import { DatabaseError, isDenied, ownStatement, type Executor, type Session } from '../database/index.ts';
import type { TableStructure } from './table-structure.ts';

/** Schema of the trigger functions and of the table with the structures. Only its owner, a superuser, can write there. */
export const DDL_SCHEMA = 'sluice_ddl';

/** The table that contains the structures, as `schema.table`. */
export const STRUCTURE_TABLE = `${DDL_SCHEMA}.tables`;

/** Whether a table is the one that contains the structures of the other tables (`log.ddl`). */
export function isStructureTable({ schema, name }: { readonly schema: string; readonly name: string }): boolean {
  return `${schema}.${name}` === STRUCTURE_TABLE;
}

const TRIGGERS = ownStatement(
  'log source: event triggers',
  `SELECT count(*) FROM pg_catalog.pg_event_trigger
  WHERE evtname IN ('sluice_ddl_end', 'sluice_ddl_drop') AND evtenabled IN ('O', 'A')`,
);

/**
 * Installs event triggers that store the structure of each table as a row of `sluice_ddl.tables`. When a statement
 * changes a structure, a trigger changes the row in the same transaction. Because of REPLICA IDENTITY FULL, the log
 * contains the row before and after the change. A logical message would not be safe, because every user may write one,
 * and the sink executes the changes. For the same reason, a schema that belongs to a user who is not a superuser is
 * refused.
 *
 * Structures come from the catalogue and not from the text of the statement, because a text can contain several
 * statements, or call a function that executes other statements.
 *
 * A column that is filled by a sequence (serial) counts as an identity column. Columns and keys are compared by column
 * numbers, which stay the same when a column is renamed.
 */
const INSTALL = ownStatement(
  'log source: create the event triggers',
  `DO $install$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('sluice_ddl', 0));
  IF EXISTS (SELECT FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner
      WHERE n.nspname = 'sluice_ddl' AND NOT r.rolsuper) THEN
    RAISE EXCEPTION 'schema sluice_ddl belongs to a user who is not a superuser; drop it' USING ERRCODE = '42501';
  END IF;
  CREATE SCHEMA IF NOT EXISTS sluice_ddl;
  GRANT USAGE ON SCHEMA sluice_ddl TO PUBLIC;
  CREATE TABLE IF NOT EXISTS sluice_ddl.tables (relation oid PRIMARY KEY, structure jsonb NOT NULL);
  ALTER TABLE sluice_ddl.tables REPLICA IDENTITY FULL;

  CREATE OR REPLACE FUNCTION sluice_ddl.structure(relation oid) RETURNS jsonb
  LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $structure$
    SELECT jsonb_build_object('schema', n.nspname, 'name', c.relname,
      'key', (SELECT jsonb_build_object('name', k.conname, 'columns', to_jsonb(k.conkey))
        FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p'),
      'columns', COALESCE((SELECT jsonb_agg(jsonb_build_object(
          'number', a.attnum, 'name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'required', a.attnotnull,
          'generated', a.attgenerated, 'identity', a.attidentity <> '' OR s.is_sequence,
          'default', CASE WHEN NOT s.is_sequence THEN pg_get_expr(d.adbin, d.adrelid) END,
          'missing', (a.attmissingval::text::text[])[1]) ORDER BY a.attnum)
        FROM pg_catalog.pg_attribute a
        LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM pg_catalog.pg_depend u
          JOIN pg_catalog.pg_class q ON q.oid = u.refobjid AND q.relkind = 'S'
          WHERE u.classid = 'pg_catalog.pg_attrdef'::regclass AND u.objid = d.oid
            AND u.refclassid = 'pg_catalog.pg_class'::regclass) AS is_sequence) s
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '[]'))
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = relation AND c.relkind IN ('r', 'p') AND c.relpersistence = 'p' AND NOT c.relispartition
      AND n.nspname NOT IN ('information_schema', 'sluice_ddl') AND n.nspname !~ '^pg_'
  $structure$;

  CREATE OR REPLACE FUNCTION sluice_ddl.record() RETURNS event_trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $record$
  DECLARE
    changed oid;
    old_structure jsonb;
    new_structure jsonb;
  BEGIN
    FOR changed IN
      SELECT DISTINCT o.objid FROM pg_event_trigger_ddl_commands() o
      WHERE TG_EVENT = 'ddl_command_end' AND o.classid = 'pg_catalog.pg_class'::regclass
    LOOP
      new_structure := sluice_ddl.structure(changed);
      CONTINUE WHEN new_structure IS NULL;
      old_structure := (SELECT t.structure FROM sluice_ddl.tables t WHERE t.relation = changed);
      CONTINUE WHEN old_structure = new_structure;
      INSERT INTO sluice_ddl.tables VALUES (changed, new_structure)
        ON CONFLICT (relation) DO UPDATE SET structure = EXCLUDED.structure;
    END LOOP;
  END $record$;

  CREATE OR REPLACE FUNCTION sluice_ddl.record_drop() RETURNS event_trigger
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $record$
  DECLARE
    changed oid;
    old_structure jsonb;
    new_structure jsonb;
  BEGIN
    FOR changed IN
      SELECT DISTINCT o.objid FROM pg_event_trigger_dropped_objects() o
      WHERE o.classid = 'pg_catalog.pg_class'::regclass AND o.object_type IN ('table', 'table column')
    LOOP
      old_structure := (SELECT t.structure FROM sluice_ddl.tables t WHERE t.relation = changed);
      CONTINUE WHEN old_structure IS NULL;
      new_structure := sluice_ddl.structure(changed);
      IF new_structure IS NULL THEN
        DELETE FROM sluice_ddl.tables t WHERE t.relation = changed;
      ELSE
        CONTINUE WHEN old_structure = new_structure;
        UPDATE sluice_ddl.tables t SET structure = new_structure WHERE t.relation = changed;
      END IF;
    END LOOP;
  END $record$;

  INSERT INTO sluice_ddl.tables
    SELECT c.oid, s.structure FROM pg_catalog.pg_class c, LATERAL (SELECT sluice_ddl.structure(c.oid)) AS s (structure)
    WHERE c.relkind IN ('r', 'p') AND s.structure IS NOT NULL
    ON CONFLICT DO NOTHING;

  DROP EVENT TRIGGER IF EXISTS sluice_ddl_end;
  DROP EVENT TRIGGER IF EXISTS sluice_ddl_drop;
  CREATE EVENT TRIGGER sluice_ddl_end ON ddl_command_end
    WHEN TAG IN ('CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO', 'CREATE SCHEMA', 'ALTER TABLE')
    EXECUTE FUNCTION sluice_ddl.record();
  CREATE EVENT TRIGGER sluice_ddl_drop ON sql_drop EXECUTE FUNCTION sluice_ddl.record_drop();
END $install$`,
);

const IS_SUPERUSER = ownStatement(
  'log source: is the user a superuser',
  `SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname = current_user`,
);

async function areInstalled(session: Pick<Session, 'ask'>): Promise<boolean> {
  return (await session.ask(TRIGGERS)).rows[0]?.[0] === '2';
}

const NEEDS_SUPERUSER = 'only a superuser may create them';

function installSql(): string {
  return `run this once in the source database, as a superuser: ${INSTALL.text};`;
}

/** Returns why `log.ddl` is not possible, and the SQL that fixes it; `undefined` if the event triggers exist or can be created. */
export async function ddlProblem(
  session: Pick<Session, 'ask'>,
): Promise<{ readonly message: string; readonly fix: string } | undefined> {
  if (await areInstalled(session)) return undefined;
  const { rows } = await session.ask(IS_SUPERUSER);
  return rows[0]?.[0] === 't' ? undefined : { message: NEEDS_SUPERUSER, fix: installSql() };
}

/** Creates the event triggers, which all connectors of a database share, unless they exist. @throws ConnectError if the user may not create them */
export async function installDdlTriggers(executor: Executor): Promise<void> {
  if (await areInstalled(executor)) return;
  try {
    await executor.ask(INSTALL);
  } catch (error) {
    if (!(error instanceof DatabaseError) || !isDenied(error)) throw error;
    throw new ConnectError(`log.ddl: event triggers: ${toError(error).message}; ${NEEDS_SUPERUSER}; ${installSql()}`, {
      cause: error,
    });
  }
}

const STRUCTURES = ownStatement(
  'log source: structures of tables',
  `SELECT s.structure::text FROM unnest($1::oid[]) WITH ORDINALITY t (relation, place),
    LATERAL (SELECT sluice_ddl.structure(t.relation)) AS s (structure)
  WHERE s.structure IS NOT NULL ORDER BY t.place`,
);

/** Reads the structures of these tables, in the given order. */
export async function readStructures(
  session: Pick<Session, 'ask'>,
  tables: readonly { readonly oid: number }[],
): Promise<readonly TableStructure[]> {
  const { rows } = await session.ask(STRUCTURES, [`{${tables.map(({ oid }) => oid).join(',')}}`]);
  return rows.map(([text]) => JSON.parse(text ?? '') as TableStructure);
}
