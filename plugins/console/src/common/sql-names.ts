/** PostgreSQL's keywords that cannot be names of tables or columns unless they are quoted. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    'all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate ' +
    'collation column concurrently constraint create cross current_catalog current_date current_role current_schema ' +
    'current_time current_timestamp current_user default deferrable desc distinct do else end except false fetch ' +
    'for foreign freeze from full grant group having ilike in initially inner intersect into is isnull join lateral ' +
    'leading left like limit localtime localtimestamp natural not notnull null offset on only or order outer ' +
    'overlaps placing primary references returning right select session_user similar some symmetric system_user ' +
    'table tablesample then to trailing true union unique user using variadic verbose when where window with'
  ).split(' '),
);

/** Quotes the name of a schema, table or column if a statement requires it. */
export function quotedName(name: string): string {
  const isPlain = /^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name);
  return isPlain ? name : `"${name.replaceAll('"', '""')}"`;
}

/** Quotes the name of a table, which may include its schema: `schema.table`. @internal */
export function quotedTable(label: string): string {
  const dot = label.indexOf('.');
  return dot < 0 ? quotedName(label) : `${quotedName(label.slice(0, dot))}.${quotedName(label.slice(dot + 1))}`;
}

/** Quotes the name of a table. `schema`: its schema if the name includes none; `null`: the default of the database. */
export function tableIn(schema: string | null, label: string): string {
  return quotedTable(schema === null || label.includes('.') ? label : `${schema}.${label}`);
}
