import { ownStatement, type Session } from '../database/index.ts';

/** A type of the database, with the types that it is based on. */
export interface DataType {
  readonly oid: number;
  readonly name: string;
  /** `pg_type.typtype`: `b` base, `c` composite, `d` domain, `e` enum, `m` multirange, `p` pseudo-type, `r` range. */
  readonly kind: string;
  /** Element type; only for arrays. */
  readonly element: DataType | undefined;
  /** Base type and the type modifier that the domain declares; only for domains. */
  readonly base: { readonly type: DataType; readonly modifier: number } | undefined;
  /** Labels in their order; only for enums. */
  readonly labels: readonly string[];
}

export interface TableColumn {
  readonly name: string;
  readonly type: DataType;
  /** Text of `format_type`. It includes the schema, except for types in pg_catalog. */
  readonly typeName: string;
  /** `pg_attribute.atttypmod`, -1 if there is none. */
  readonly modifier: number;
  readonly isRequired: boolean;
  readonly isGenerated: boolean;
  /** The SQL of the default; `undefined` if there is none. */
  readonly defaultSql: string | undefined;
  readonly comment: string | undefined;
}

/** The definition of a table, from the system catalogue. */
export interface TableDefinition {
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly TableColumn[];
  /** Columns of the primary key. If there is none, columns of the first unique index; empty without such an index. */
  readonly keyColumns: readonly string[];
}

const TABLES = ownStatement(
  'log source: tables',
  `SELECT c.oid, n.nspname, c.relname, c.relispartition, c.relkind
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND c.relpersistence = 'p' AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
  ORDER BY n.nspname, c.relname`,
);

const COLUMNS = ownStatement(
  'log source: columns',
  `SELECT a.attname, a.atttypid, a.atttypmod, a.attnotnull, a.attgenerated <> '',
    CASE WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, d.adrelid) END,
    format_type(a.atttypid, a.atttypmod), col_description(a.attrelid, a.attnum)
  FROM pg_catalog.pg_attribute a
  LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
);

const KEY = ownStatement(
  'log source: key',
  `SELECT to_json(ARRAY(SELECT a.attname::text FROM unnest(i.indkey::int2[]) WITH ORDINALITY k (attnum, place)
      JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
      WHERE k.place <= i.indnkeyatts ORDER BY k.place))::text
  FROM pg_catalog.pg_index i
  WHERE i.indrelid = $1::oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
  ORDER BY i.indisprimary DESC, i.indexrelid LIMIT 1`,
);

const TYPES = ownStatement(
  'log source: types',
  `WITH RECURSIVE needed AS (
    SELECT t.oid, t.typelem, t.typbasetype FROM pg_catalog.pg_type t WHERE t.oid = ANY ($1::oid[])
    UNION
    SELECT t.oid, t.typelem, t.typbasetype FROM pg_catalog.pg_type t JOIN needed n ON t.oid IN (n.typelem, n.typbasetype))
  SELECT t.oid, t.typname, t.typtype, CASE WHEN t.typcategory = 'A' THEN t.typelem ELSE 0 END, t.typbasetype, t.typtypmod,
    to_json(ARRAY(SELECT e.enumlabel::text FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid ORDER BY e.enumsortorder))::text
  FROM needed n JOIN pg_catalog.pg_type t ON t.oid = n.oid`,
);

const TYPE_NAMES = ownStatement(
  'log source: names of types',
  `SELECT format_type(t.oid, t.modifier)
  FROM unnest($1::oid[], $2::int4[]) WITH ORDINALITY t (oid, modifier, place) ORDER BY t.place`,
);

/** A table that can be captured. */
export interface ListedTable {
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  readonly isPartition: boolean;
  readonly isPartitioned: boolean;
}

/** The permanent tables of users, ordered by schema and name. */
export async function listTables(session: Pick<Session, 'ask'>): Promise<readonly ListedTable[]> {
  const { rows } = await session.ask(TABLES);
  return rows.map(([oid, schema, name, isPartition, kind]) => ({
    oid: Number(oid),
    schema: schema ?? '',
    name: name ?? '',
    isPartition: isPartition === 't',
    isPartitioned: kind === 'p',
  }));
}

/** Describes a table. If the table no longer exists, the list of columns is empty. */
export async function describeTable(
  session: Pick<Session, 'ask'>,
  { oid, schema, name }: Pick<ListedTable, 'oid' | 'schema' | 'name'>,
): Promise<TableDefinition> {
  const { rows } = await session.ask(COLUMNS, [String(oid)]);
  const key = await session.ask(KEY, [String(oid)]);
  const types = await readTypes(
    session,
    rows.map(([, typeOid]) => Number(typeOid)),
  );
  const columns = rows.map((row): TableColumn => {
    const [column, typeOid, modifier, required, generated, defaultSql, typeName, comment] = row;
    return {
      name: column ?? '',
      type: types(Number(typeOid)),
      typeName: typeName ?? '',
      modifier: Number(modifier),
      isRequired: required === 't',
      isGenerated: generated === 't',
      defaultSql: defaultSql ?? undefined,
      comment: comment ?? undefined,
    };
  });
  const keyColumns = JSON.parse(key.rows[0]?.[0] ?? '[]') as readonly string[];
  return { oid, schema, name, columns, keyColumns };
}

/** Reads the texts of `format_type` for types with modifiers, in the given order. */
export async function readTypeNames(
  session: Pick<Session, 'ask'>,
  types: readonly { readonly typeOid: number; readonly typeModifier: number }[],
): Promise<readonly string[]> {
  const oids = types.map(({ typeOid }) => typeOid).join(',');
  const modifiers = types.map(({ typeModifier }) => typeModifier).join(',');
  const { rows } = await session.ask(TYPE_NAMES, [`{${oids}}`, `{${modifiers}}`]);
  return rows.map(([name]) => name ?? '');
}

/** Reads the types with these OIDs. Returns a function that returns a type by its OID. */
export async function readTypes(
  session: Pick<Session, 'ask'>,
  oids: readonly number[],
): Promise<(oid: number) => DataType> {
  const { rows } = await session.ask(TYPES, [`{${[...new Set(oids)].join(',')}}`]);
  const byOid = new Map(rows.map((row) => [Number(row[0]), row]));
  const find = (oid: number): DataType => {
    const [, name = '', kind = 'b', element = '0', base = '0', baseModifier = '-1', labels] = byOid.get(oid) ?? [];
    return {
      oid,
      name: name ?? '',
      kind: kind ?? 'b',
      element: Number(element) === 0 ? undefined : find(Number(element)),
      base: Number(base) === 0 ? undefined : { type: find(Number(base)), modifier: Number(baseModifier) },
      labels: JSON.parse(labels ?? '[]') as readonly string[],
    };
  };
  return find;
}
