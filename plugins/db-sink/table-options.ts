import { declareOptions, nullOr, oneOf, type ParsedOptions } from '../../src/index.ts';
import { splitStatements, type GrowthPolicy } from '../database/index.ts';

const GROUP = 'Tables';

/** Permitted changes to tables (docs/sink.md#tables-and-rows). */
export const tableOptions = declareOptions({
  'auto.create': {
    type: 'BOOLEAN',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'Whether a missing table is created. Default: `true` for `json_db`, `json_tsd` and `line_tsd`, otherwise `false`.',
    group: GROUP,
    width: 'SHORT',
    displayName: 'Create missing tables',
  },
  'auto.evolve': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'How a table is changed if messages do not fit it. `none` changes nothing; a `json_db` message must then list exactly the columns of the table, in order. `add` adds missing columns; `unknown.columns=add` does so even with `none`. `widen` also lengthens `VARCHAR(n)`. Other types never change. Default: `widen` for `json_tsd` and `line_tsd`, whose tables are created from values alone; otherwise `none`. `true` and `false` mean `add` and `none`.',
    validator: nullOr(oneOf('none', 'add', 'widen', 'true', 'false')),
    group: GROUP,
    width: 'SHORT',
    displayName: 'Change tables',
  },
  'table.options': {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation:
      'SQL that is appended to CREATE TABLE, for example `WITH (fillfactor=70)`, `TABLESPACE fast` or `PARTITION BY …`.',
    group: GROUP,
    width: 'LONG',
    displayName: 'Options of created tables',
  },
  'unknown.columns': {
    type: 'STRING',
    default: 'fault',
    importance: 'LOW',
    documentation:
      'What happens to a value whose column the table does not have. `fault` refuses the row. `ignore` drops the value. `add` adds the column; in `json_db` its type is FLOAT8, BOOL, VARCHAR or JSONB, depending on the value. For `json_db`, this also applies to a value whose column the message does not list.',
    validator: oneOf('fault', 'ignore', 'add'),
    group: GROUP,
    width: 'SHORT',
    displayName: 'Unknown columns',
  },
});

export type TableOptions = ParsedOptions<typeof tableOptions>;

export type Evolution = 'none' | 'add' | 'widen';

/** The changes to tables that a format supports, and its defaults. */
export type FormatGrowth = 'none' | { readonly create: boolean; readonly evolve: Evolution };

/** Returns the permitted changes: those of the options, or else the format's defaults. */
export function growthOf(options: TableOptions, format: FormatGrowth): GrowthPolicy {
  if (format === 'none') return { create: false, add: false, widen: false };
  const evolve = evolutionOf(options['auto.evolve']) ?? format.evolve;
  return {
    create: options['auto.create'] ?? format.create,
    add: evolve !== 'none' || options['unknown.columns'] === 'add',
    widen: evolve === 'widen',
    tableOptions: options['table.options'] ?? undefined,
  };
}

function evolutionOf(value: string | null): Evolution | undefined {
  if (value === 'true') return 'add';
  return value === 'false' ? 'none' : ((value ?? undefined) as Evolution | undefined);
}

/** Returns problems with the options for a format, as pairs of option and reason. */
export function tableProblems(options: TableOptions, name: string, format: FormatGrowth): [string, string][] {
  const problems: [string, string][] = [];
  const evolution = evolutionOf(options['auto.evolve']) ?? 'none';
  if (format === 'none') {
    const reason = `tables are created and changed only by the statements in ${name} messages`;
    if (options['auto.create'] === true) problems.push(['auto.create', reason]);
    if (evolution !== 'none') problems.push(['auto.evolve', reason]);
    if (options['unknown.columns'] === 'add') problems.push(['unknown.columns', reason]);
  }
  const sql = options['table.options'];
  if (sql !== null && [...splitStatements(`CREATE TABLE t () ${sql}`)].length > 1) {
    problems.push(['table.options', 'it must not contain another statement']);
  }
  return problems;
}
