import type { ColumnRole } from '../../../src/data/row-batch.ts';
import { columnRole } from '../sql/mark.ts';
import { ownStatement, qualifiedStatement } from '../sql/own-statement.ts';
import { typeFamily, type TypeFamily } from '../sql/column-type.ts';
import type { QueryResult, Table, TableColumn } from './api.ts';

/** A column with the details that the batch writer needs beyond the plugin API. */
export interface CatalogueColumn extends TableColumn {
  /** Family of the type; for a domain, the family of its base type. */
  readonly family: TypeFamily;
  readonly isDomain: boolean;
  readonly isArray: boolean;
  /** Fractional digits of a second; 6 if the type does not specify them. */
  readonly precision: number;
  /** Length limit of varchar(n) and char(n) in characters. */
  readonly maxLength: number | undefined;
  /** True if the database computes the value and rejects any given one (GENERATED ALWAYS, stored or identity). */
  readonly generated: boolean;
  readonly defaultExpression: string | undefined;
  /** OID of the table if the column is NOT NULL and has a default, which replaces missing values. */
  readonly defaultOf: string | undefined;
}

export interface CatalogueTable extends Table {
  readonly columns: readonly CatalogueColumn[];
}

/**
 * Returns, for each name, the table of this name in the given schema or, if the schema is NULL, in the first schema of
 * the session's search path that contains such a table. The implicit pg_catalog is excluded. Names of more than 63
 * bytes are excluded as well, because the cast to `name` would truncate them.
 */
const NAMED_TABLES = `
  SELECT DISTINCT ON (c.relname) c.oid, n.nspname, c.relname
  FROM unnest(CASE WHEN $2::text IS NULL THEN current_setting('sluice.schemas')::name[] ELSE ARRAY[$2::text::name] END)
    WITH ORDINALITY AS place(schema, position)
  JOIN pg_catalog.pg_namespace n ON n.nspname = place.schema
  CROSS JOIN unnest($1::text[]) AS wanted(name)
  JOIN pg_catalog.pg_class c
    ON c.relnamespace = n.oid AND c.relname = wanted.name::name AND c.relkind IN ('r', 'p', 'f', 'v')
  WHERE octet_length(wanted.name) <= 63 AND octet_length(COALESCE($2::text, '')) <= 63
  ORDER BY c.relname, place.position`;

const USER_TABLES = `
  SELECT c.oid, n.nspname, c.relname
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'f') AND NOT c.relispartition AND c.relpersistence <> 't'
    AND n.nspname <> 'information_schema' AND n.nspname !~ '^(pg|_timescaledb)_'`;

/**
 * Returns one row per column, and one row for a table without columns. The key is the primary key or else the oldest
 * unique index that ON CONFLICT can use: immediate, valid, not partial, without expressions, and over NOT NULL columns
 * or with NULLS NOT DISTINCT. `indnullsnotdistinct` is read through `to_jsonb`, because PostgreSQL 14 and some
 * databases derived from PostgreSQL do not have this column of pg_index; the alternative, pg_get_indexdef, would wait
 * for locks on the table. The `=` operator of a type such as citext must be in the schema of the type and have the same
 * owner, so that operators created by other users are ignored.
 */
function columnsOf(tables: string): string {
  return `
    WITH found AS (${tables})
    SELECT f.nspname, f.relname, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),
      quote_ident(tn.nspname) || '.' || quote_ident(t.typname), a.atttypid, COALESCE(NULLIF(t.typbasetype, 0), a.atttypid),
      a.atttypmod, a.attnotnull OR t.typnotnull, t.typcategory = 'A', a.attgenerated <> '' OR a.attidentity = 'a',
      a.attidentity <> '' OR d.oid IS NOT NULL OR t.typdefault IS NOT NULL,
      CASE WHEN a.attnotnull AND d.oid IS NOT NULL AND a.attgenerated = '' THEN f.oid END,
      pg_catalog.col_description(f.oid, a.attnum), k.position, COALESCE(eq.nspname, 'pg_catalog')
    FROM found f
    LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = f.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_catalog.pg_namespace tn ON tn.oid = t.typnamespace
    LEFT JOIN pg_catalog.pg_type bt ON bt.oid = COALESCE(NULLIF(t.typbasetype, 0), t.oid)
    LEFT JOIN pg_catalog.pg_operator o ON o.oprname = '=' AND o.oprleft = bt.oid AND o.oprright = bt.oid
      AND o.oprnamespace = bt.typnamespace AND o.oprowner = bt.typowner
    LEFT JOIN pg_catalog.pg_namespace eq ON eq.oid = o.oprnamespace
    LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = f.oid AND d.adnum = a.attnum
    LEFT JOIN LATERAL (
      SELECT i.indkey::int2[] AS columns, i.indnkeyatts AS length
      FROM pg_catalog.pg_index i
      WHERE i.indrelid = f.oid AND i.indisunique AND i.indimmediate AND i.indisvalid
        AND i.indpred IS NULL AND i.indexprs IS NULL
        AND (to_jsonb(i) ->> 'indnullsnotdistinct' = 'true' OR NOT EXISTS (
          SELECT FROM unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) AS part(number)
          JOIN pg_catalog.pg_attribute ka ON ka.attrelid = f.oid AND ka.attnum = part.number
          WHERE NOT ka.attnotnull))
      ORDER BY i.indisprimary DESC, i.indexrelid LIMIT 1) AS best ON true
    LEFT JOIN LATERAL (
      SELECT entry.position FROM unnest(best.columns) WITH ORDINALITY AS entry(number, position)
      WHERE entry.number = a.attnum AND entry.position <= best.length) AS k ON true
    ORDER BY f.nspname, f.relname, a.attnum`;
}

/** Parameters: table names as an array, and their schema or NULL. */
export const TABLES_BY_NAME = ownStatement('catalogue: tables by name', columnsOf(NAMED_TABLES));

export const ALL_TABLES = ownStatement('catalogue: all tables', columnsOf(USER_TABLES));

/** The column defaults of a table as SQL for this session's search path. Parameter: the table's OID. */
export const DEFAULT_EXPRESSIONS = qualifiedStatement(
  'catalogue: defaults of columns',
  `SELECT a.attname, pg_catalog.pg_get_expr(d.adbin, d.adrelid) FROM pg_catalog.pg_attrdef d
    JOIN pg_catalog.pg_attribute a
      ON a.attrelid OPERATOR(pg_catalog.=) d.adrelid AND a.attnum OPERATOR(pg_catalog.=) d.adnum
    WHERE d.adrelid OPERATOR(pg_catalog.=) $1::pg_catalog.oid`,
);

/** Converts the result of TABLES_BY_NAME or ALL_TABLES. */
export function readTables(result: QueryResult): CatalogueTable[] {
  const tables: CatalogueTable[] = [];
  let start = 0;
  const { rows } = result;
  for (let end = 1; end <= rows.length; end++) {
    if (rows[end]?.[0] === rows[start]?.[0] && rows[end]?.[1] === rows[start]?.[1] && end < rows.length) continue;
    tables.push(readTable(rows.slice(start, end)));
    start = end;
  }
  return tables;
}

type Row = QueryResult['rows'][number];

function readTable(rows: readonly Row[]): CatalogueTable {
  const [schema, name] = rows[0] ?? [];
  const withColumn = rows.filter((row) => row[2] !== null);
  const key = withColumn
    .filter((row) => row[14] !== null)
    .sort((left, right) => Number(left[14]) - Number(right[14]))
    .map((row) => row[2] ?? '');
  return {
    name: { schema: schema ?? '', name: name ?? '' },
    columns: withColumn.map((row, index) => readColumn(row, index === 0)),
    key,
  };
}

function readColumn(row: Row, isFirst: boolean): CatalogueColumn {
  const [, , name, type, baseType, typeOid, baseOid, typeModifier, notNull, isArray, generated] = row;
  const [hasDefault, tableOid, comment, , operatorSchema] = row.slice(11);
  const family = isArray === 't' ? 'other' : typeFamily(Number(baseOid));
  return {
    name: name ?? '',
    type: type ?? '',
    typeOid: Number(typeOid),
    nullable: notNull !== 't',
    hasDefault: hasDefault === 't',
    role: roleOf(comment ?? null, family, isFirst),
    baseType: baseType ?? '',
    family,
    isDomain: typeOid !== baseOid,
    isArray: isArray === 't',
    precision: isTime(family) && Number(typeModifier) >= 0 ? Number(typeModifier) : 6,
    maxLength: maxLength(Number(typeOid), Number(typeModifier)),
    generated: generated === 't',
    defaultExpression: undefined,
    defaultOf: tableOid ?? undefined,
    operatorSchema: operatorSchema ?? 'pg_catalog',
  };
}

/** Returns the table's OID if a column has a default that replaces missing values. */
export function tableOfDefaults({ columns }: CatalogueTable): string | undefined {
  return columns.find(({ defaultOf }) => defaultOf !== undefined)?.defaultOf;
}

/** Adds the result of DEFAULT_EXPRESSIONS to the table. */
export function withDefaults(table: CatalogueTable, { rows }: QueryResult): CatalogueTable {
  const expressions = new Map(rows.map(([name, expression]) => [name, expression ?? undefined]));
  return {
    ...table,
    columns: table.columns.map((column) => ({ ...column, defaultExpression: expressions.get(column.name) })),
  };
}

const BPCHAR = 1042;
const VARCHAR = 1043;

/**
 * Returns the length limit in characters. The type modifier of character types is this limit plus four (VARHDRSZ), or
 * -1 without a limit.
 */
function maxLength(typeOid: number, typeModifier: number): number | undefined {
  return (typeOid === BPCHAR || typeOid === VARCHAR) && typeModifier >= 4 ? typeModifier - 4 : undefined;
}

/** Returns the role of a column: a comment marks tags; a timestamp in the first column is the time; others are data. */
export function roleOf(comment: string | null, family: TypeFamily, isFirst: boolean): ColumnRole {
  return columnRole(comment) ?? (isFirst && isTime(family) ? 'time' : 'data');
}

function isTime(family: TypeFamily): boolean {
  return family === 'timestamptz' || family === 'timestamp';
}
