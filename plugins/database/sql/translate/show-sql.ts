import type { TableName } from '../../../../src/data/row-batch.ts';
import { quoteIdentifier, quoteLiteral, quoteTable } from '../quote.ts';

/** The marks of mark.ts as PostgreSQL regular expressions. */
const TAG_MARK = quoteLiteral('^\\s*sluice:(tag|primary-tag)(?=\\s|$)');
const ENGINE_MARK = quoteLiteral('^\\s*sluice:(time-series|relational)(?=\\s|$)');

/** The original database's name of a type, with length or precision; other types keep PostgreSQL's name. */
const TYPE_NAME = `CASE a.atttypid
    WHEN 16 THEN 'BOOL' WHEN 21 THEN 'INT2' WHEN 23 THEN 'INT4' WHEN 20 THEN 'INT8'
    WHEN 700 THEN 'FLOAT4' WHEN 701 THEN 'FLOAT8' WHEN 25 THEN 'TEXT' WHEN 17 THEN 'BYTES' WHEN 1082 THEN 'DATE'
    WHEN 2950 THEN 'UUID' WHEN 869 THEN 'INET' WHEN 114 THEN 'JSON' WHEN 3802 THEN 'JSONB'
    WHEN 1184 THEN 'TIMESTAMPTZ(' || CASE WHEN a.atttypmod < 0 THEN 6 ELSE a.atttypmod END || ')'
    WHEN 1114 THEN 'TIMESTAMP(' || CASE WHEN a.atttypmod < 0 THEN 6 ELSE a.atttypmod END || ')'
    WHEN 1043 THEN 'VARCHAR' || CASE WHEN a.atttypmod > 4 THEN '(' || (a.atttypmod - 4) || ')' ELSE '' END
    WHEN 1042 THEN CASE WHEN a.atttypmod > 4 THEN 'CHAR(' || (a.atttypmod - 4) || ')' ELSE 'BPCHAR' END
    WHEN 1700 THEN pg_catalog.replace(pg_catalog.format_type(1700, a.atttypmod), 'numeric', 'DECIMAL')
    ELSE pg_catalog.format_type(a.atttypid, a.atttypmod) END`;

/** Returns a query for the columns of a relation; `tag` is the mark, and `own` the user's part of the comment. */
function columnsOf(table: TableName): string {
  return `SELECT a.attrelid, a.attnum, a.attname, ${TYPE_NAME} AS type, a.attnotnull, a.attgenerated, a.attidentity,
    pg_catalog.pg_get_expr(d.adbin, d.adrelid) AS expression,
    pg_catalog.substring(m.comment, ${TAG_MARK}) AS tag,
    NULLIF(pg_catalog.btrim(pg_catalog.regexp_replace(m.comment, ${TAG_MARK}, '')), '') AS own
  FROM pg_catalog.pg_attribute a
  LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  LEFT JOIN LATERAL (SELECT pg_catalog.col_description(a.attrelid, a.attnum) AS comment) m ON true
  WHERE a.attrelid = ${regclass(table)} AND a.attnum > 0 AND NOT a.attisdropped`;
}

/** Returns an expression that fails with 42P01 if the relation does not exist. */
function regclass(table: TableName): string {
  return `${quoteLiteral(quoteTable(table))}::pg_catalog.regclass`;
}

const HAS_TAGS = `EXISTS (SELECT FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      AND pg_catalog.col_description(c.oid, a.attnum) ~ ${TAG_MARK})`;

export function showDatabases(withComment: boolean): string {
  return `SELECT d.datname AS database_name,
  CASE pg_catalog.substring(m.comment, ${ENGINE_MARK}) WHEN 'time-series' THEN 'TIME SERIES' WHEN 'relational' THEN 'RELATIONAL' ELSE 'UNMARKED' END
    AS engine_type${withComment ? `, ${ownComment('m.comment', ENGINE_MARK)} AS comment` : ''}
FROM pg_catalog.pg_database d,
  LATERAL (SELECT pg_catalog.shobj_description(d.oid, 'pg_database') AS comment) m
WHERE d.datallowconn AND NOT d.datistemplate ORDER BY 1`;
}

function ownComment(comment: string, mark: string): string {
  return `NULLIF(pg_catalog.btrim(pg_catalog.regexp_replace(${comment}, ${mark}, '')), '')`;
}

/** Returns a query that fails with 3D000 if the database does not exist, because has_database_privilege does. */
export function showCreateDatabase(database: string): string {
  const literal = quoteLiteral(database);
  return `SELECT d.datname AS database_name, 'CREATE ' ||
  CASE WHEN pg_catalog.substring(m.comment, ${ENGINE_MARK}) = 'time-series' THEN 'TS DATABASE ' ELSE 'DATABASE ' END ||
  pg_catalog.quote_ident(d.datname) ||
  COALESCE(' COMMENT = ' || pg_catalog.quote_literal(${ownComment('m.comment', ENGINE_MARK)}), '') AS create_statement
FROM pg_catalog.pg_database d,
  LATERAL (SELECT pg_catalog.shobj_description(d.oid, 'pg_database') AS comment) m
WHERE d.datname = ${literal} AND pg_catalog.has_database_privilege(${literal}::name, 'CONNECT') IS NOT NULL
UNION ALL
SELECT NULL, NULL WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_database WHERE datname = ${literal})
  AND pg_catalog.has_database_privilege(${literal}::name, 'CONNECT')`;
}

/** Returns a condition on the schema; `undefined` means the schemas of the search path. */
function inSchema(schema: string | undefined): string {
  return schema === undefined
    ? 'n.nspname = ANY (pg_catalog.current_schemas(false))'
    : `n.nspname = ${quoteLiteral(schema)}`;
}

export function showSequences(schema: string | undefined): string {
  return `SELECT c.relname AS sequence_name
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'S' AND ${inSchema(schema)} ORDER BY 1`;
}

export function showTables(schema: string | undefined, withComment: boolean): string {
  return `SELECT c.relname AS table_name,
  CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'f' THEN 'FOREIGN TABLE'
    ELSE CASE WHEN ${HAS_TAGS} THEN 'TIME SERIES TABLE' ELSE 'BASE TABLE' END END AS table_type${
      withComment ? ", pg_catalog.obj_description(c.oid, 'pg_class') AS comment" : ''
    }
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND ${inSchema(schema)} ORDER BY 1`;
}

export function showSchemas(): string {
  return `SELECT nspname AS schema_name FROM pg_catalog.pg_namespace
WHERE nspname !~ '^pg_(toast|temp)' ORDER BY 1`;
}

/**
 * Returns a query for the columns of a table. Data columns come first, as in the original database's table definition.
 */
export function showColumns(table: TableName, withComment: boolean): string {
  return `SELECT a.attname AS column_name, a.type AS data_type, NOT a.attnotnull AS is_nullable,
  CASE WHEN a.attgenerated = '' THEN a.expression END AS column_default,
  CASE WHEN a.attgenerated = '' THEN '' ELSE a.expression END AS generation_expression,
  ARRAY(SELECT CASE WHEN i.indisprimary THEN 'primary' ELSE x.relname::text END
    FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
    WHERE i.indrelid = a.attrelid AND a.attnum = ANY (i.indkey::int2[]) ORDER BY i.indisprimary DESC, x.relname) AS indices,
  false AS is_hidden, a.tag IS NOT NULL AS is_tag${withComment ? ', a.own AS comment' : ''}
FROM (${columnsOf(table)}) a ORDER BY a.tag IS NOT NULL, a.attnum`;
}

export function showTags(table: TableName): string {
  return `SELECT a.attname AS tag, a.type AS type, a.tag = 'primary-tag' AS is_primary, NOT a.attnotnull AS nullable
FROM (${columnsOf(table)}) a WHERE a.tag IS NOT NULL ORDER BY a.attnum`;
}

export function showTagValues(table: TableName, tags: readonly string[]): string {
  const columns = tags.map(quoteIdentifier).join(', ');
  return `SELECT DISTINCT ${columns} FROM ${quoteTable(table)} ORDER BY ${columns}`;
}

export function showIndexes(table: TableName): string {
  return `SELECT c.relname AS table_name, x.relname AS index_name, NOT i.indisunique AS non_unique,
  k.position AS seq_in_index, COALESCE(a.attname, pg_catalog.pg_get_indexdef(x.oid, k.position::int, true)) AS column_name,
  CASE WHEN (i.indoption::int2[])[k.position - 1] & 1 = 1 THEN 'DESC' ELSE 'ASC' END AS direction,
  k.position > i.indnkeyatts AS storing, false AS implicit
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, position)
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum AND k.attnum > 0
WHERE i.indrelid = ${regclass(table)} ORDER BY i.indisprimary DESC, x.relname, k.position`;
}

export function showConstraints(table: TableName): string {
  return `SELECT c.relname AS table_name, k.conname AS constraint_name,
  CASE k.contype WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' WHEN 'c' THEN 'CHECK' WHEN 'f' THEN 'FOREIGN KEY'
    WHEN 'n' THEN 'NOT NULL' ELSE 'EXCLUDE' END AS constraint_type,
  pg_catalog.pg_get_constraintdef(k.oid) AS details, k.convalidated AS validated
FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
WHERE k.conrelid = ${regclass(table)} ORDER BY 2`;
}

export function showUsers(): string {
  return `SELECT r.rolname AS username, pg_catalog.concat_ws(', ',
    CASE WHEN r.rolsuper THEN 'SUPERUSER' END, CASE WHEN r.rolcreaterole THEN 'CREATEROLE' END,
    CASE WHEN NOT r.rolcanlogin THEN 'NOLOGIN' END, 'VALID UNTIL=' || r.rolvaliduntil::text) AS options,
  ARRAY(SELECT g.rolname::text FROM pg_catalog.pg_auth_members m JOIN pg_catalog.pg_roles g ON g.oid = m.roleid
    WHERE m.member = r.oid ORDER BY 1) AS member_of
FROM pg_catalog.pg_roles r WHERE r.rolname !~ '^pg_' ORDER BY 1`;
}

/**
 * Returns one row: the table's name, and the statement that creates it in the original database's syntax. Time-series
 * tables have TAGS, other tables their constraints, and views their query. Indexes without a constraint are not
 * included.
 */
export function showCreateTable(table: TableName): string {
  return `WITH col AS (${columnsOf(table)}), line AS (
  SELECT a.attnum, a.tag, pg_catalog.quote_ident(a.attname) AS name,
    '    ' || pg_catalog.quote_ident(a.attname) || ' ' || a.type || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE ' NULL' END ||
    CASE WHEN a.attgenerated <> '' THEN ' GENERATED ALWAYS AS (' || a.expression || ') STORED'
      WHEN a.attidentity = 'a' THEN ' GENERATED ALWAYS AS IDENTITY'
      WHEN a.attidentity = 'd' THEN ' GENERATED BY DEFAULT AS IDENTITY'
      ELSE COALESCE(' DEFAULT ' || a.expression, '') END AS text, a.own
  FROM col a)
SELECT c.relname AS table_name, CASE
  WHEN c.relkind IN ('v', 'm') THEN CASE c.relkind WHEN 'v' THEN 'CREATE VIEW ' ELSE 'CREATE MATERIALIZED VIEW ' END ||
    pg_catalog.quote_ident(c.relname) || E' AS\\n' || pg_catalog.pg_get_viewdef(c.oid, true)
  WHEN s.tags IS NOT NULL THEN 'CREATE TABLE ' || pg_catalog.quote_ident(c.relname) || E' (\\n' || s.data ||
    E'\\n) TAGS (\\n' || s.tags || COALESCE(' ) PRIMARY TAGS(' || s.primary_tags || ')', ' )') ||
    COALESCE(' COMMENT = ' || pg_catalog.quote_literal(pg_catalog.obj_description(c.oid, 'pg_class')), '')
  ELSE 'CREATE TABLE ' || pg_catalog.quote_ident(c.relname) || E' (\\n' ||
    pg_catalog.concat_ws(E',\\n', s.plain, k.constraints) || E'\\n)' END AS create_statement
FROM pg_catalog.pg_class c,
  LATERAL (SELECT
    pg_catalog.string_agg(text, E',\\n' ORDER BY attnum) AS plain,
    pg_catalog.string_agg(text || COALESCE(' COMMENT ' || pg_catalog.quote_literal(own), ''), E',\\n' ORDER BY attnum)
      FILTER (WHERE tag IS NULL) AS data,
    pg_catalog.string_agg(text || COALESCE(' COMMENT ' || pg_catalog.quote_literal(own), ''), E',\\n' ORDER BY attnum)
      FILTER (WHERE tag IS NOT NULL) AS tags,
    pg_catalog.string_agg(name, ', ' ORDER BY attnum) FILTER (WHERE tag = 'primary-tag') AS primary_tags
    FROM line) s,
  LATERAL (SELECT pg_catalog.string_agg('    CONSTRAINT ' || pg_catalog.quote_ident(conname) || ' ' ||
      pg_catalog.pg_get_constraintdef(oid), E',\\n' ORDER BY contype = 'p' DESC, conname) AS constraints
    FROM pg_catalog.pg_constraint WHERE conrelid = c.oid AND contype IN ('p', 'u', 'c', 'f', 'x')) k
WHERE c.oid = ${regclass(table)}`;
}
