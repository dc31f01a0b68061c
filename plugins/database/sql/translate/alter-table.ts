import type { TableName } from '../../../../src/data/row-batch.ts';
import { columnMark } from '../mark.ts';
import { quoteIdentifier, quoteLiteral, quoteTable } from '../quote.ts';
import { tableOfParts, TokenReader } from '../token-reader.ts';
import { nameOf } from '../token-text.ts';
import { readSeriesType, seriesColumnType } from './column-types.ts';
import { resolveTable } from './insert-head.ts';
import { otherDatabase, unexpected } from './series-table.ts';
import { isTimeSeries, type KnownTable, Refused, run } from './translation.ts';
import type { RunTranslation, TranslationContext } from './translation.ts';

/** An action of ALTER TABLE in PostgreSQL's syntax, and the statements to run after it. */
interface Action {
  readonly clause: string;
  readonly after: readonly string[];
  readonly doneOn: string | undefined;
  readonly notice: string | undefined;
}

interface Target {
  readonly table: KnownTable | undefined;
  readonly name: TableName;
}

/**
 * Translates `ALTER TABLE t ADD | DROP | ALTER | RENAME TAG …` and, on time-series tables, the column types of the
 * original database. Throws Refused for dropping the time column or a primary tag, for TAG with a column that is not a
 * tag, for a tag of a table without a time column, for a table in another database, for retention, zones and
 * partitions, and for syntax errors.
 */
export function translateAlterTable(text: string, reader: TokenReader, context: TranslationContext): RunTranslation {
  const pass = run([text]);
  reader.takeWords('ALTER', 'TABLE');
  const ifExists = reader.takeWords('IF', 'EXISTS');
  const only = reader.takeWords('ONLY');
  const parts = reader.takeNameParts();
  if (parts === undefined) return pass;
  reader.takeSign('*');
  const { table, renamed } = resolveTable(parts, context);
  const name = renamed ?? (table === undefined ? tableOfParts(parts, context.database) : nameOfParts(parts));
  if (name === undefined) throw otherDatabase(parts[0] ?? '');
  const actions = splitActions(reader).map((action) => translateAction(action, { table, name }));
  if (renamed === undefined && actions.every((action) => action === undefined)) return pass;
  const head = `ALTER TABLE ${ifExists ? 'IF EXISTS ' : ''}${only ? 'ONLY ' : ''}${quoteTable(name)}`;
  const sources = splitActions(reader).map((action) => action.sourceBetween(0, action.tokens.length));
  const statements = actions.flatMap((action, index) => [
    `${head} ${action?.clause ?? sources[index] ?? ''}`,
    ...(action?.after ?? []),
  ]);
  const notices = actions.flatMap((action) => action?.notice ?? []);
  return run(statements, { doneOn: actions.length === 1 ? actions[0]?.doneOn : undefined, notices });
}

function nameOfParts(parts: readonly string[]): TableName {
  const [schema, name] = parts.slice(-2);
  return name === undefined ? { name: schema ?? '' } : { schema, name };
}

function splitActions(reader: TokenReader): TokenReader[] {
  const actions: TokenReader[] = [];
  const start = reader.position;
  let from = start;
  const end = (): void => {
    actions.push(new TokenReader(reader.text, reader.tokens.slice(from, reader.position)));
  };
  while (!reader.atEnd) {
    if (reader.isSign(',')) {
      end();
      from = reader.position + 1;
    }
    if (!reader.skipParentheses()) reader.position += 1;
  }
  end();
  reader.position = start;
  return actions;
}

/** Returns `undefined` for actions that PostgreSQL accepts unchanged. */
function translateAction(action: TokenReader, target: Target): Action | undefined {
  refuseStorage(action);
  switch (action.takeOneOf('ADD', 'DROP', 'ALTER', 'RENAME')) {
    case 'ADD':
      return isTagDefinition(action) ? addTag(action, target) : addColumn(action, target);
    case 'DROP':
      return drop(action, target);
    case 'ALTER':
      return alterColumn(action, target);
    case 'RENAME':
      return renameTag(action, target);
    default:
      return undefined;
  }
}

const TAG_WORDS = ['TAG', 'ATTRIBUTE'] as const;

/** Returns true if this is `TAG name type`, as opposed to a column called tag: `tag varchar(9)`, `tag int NOT NULL`. */
function isTagDefinition(action: TokenReader): boolean {
  const { tokens, position, text } = action;
  if (!TAG_WORDS.some((word) => action.isWords(word))) return false;
  if (action.keyword(1) === 'IF' && action.keyword(2) === 'NOT' && action.keyword(3) === 'EXISTS') return true;
  if (nameOf(text, tokens[position + 1]) === undefined || tokens[position + 2]?.kind !== 'word') return false;
  const type = `${action.keyword(1) ?? ''} ${action.keyword(2) ?? ''}`;
  return (
    !/^(?:DOUBLE PRECISION|(?:CHARACTER|CHAR|BIT) VARYING|NATIONAL CHAR(?:ACTER)?|TIME(?:STAMP)? WITH(?:OUT)?)$/.test(
      type,
    ) &&
    !/ (?:NOT|NULL|DEFAULT|CONSTRAINT|PRIMARY|UNIQUE|REFERENCES|CHECK|COLLATE|GENERATED|STORAGE|COMPRESSION)$/.test(
      type,
    )
  );
}

function addTag(action: TokenReader, { table, name }: Target): Action {
  action.takeOneOf(...TAG_WORDS);
  const ifNotExists = action.takeWords('IF', 'NOT', 'EXISTS');
  if (table !== undefined && !table.columns.some((column) => column.role === 'time')) {
    throw new Refused('tags belong to time-series tables: write ADD COLUMN', '42809');
  }
  const tag = action.takeName();
  if (tag === undefined) throw unexpected(action, 'the name of a tag');
  const type = readSeriesType(action);
  if (type === undefined) throw unexpected(action, `the type of tag "${tag}"`);
  const rest = restOf(action);
  const quoted = quoteIdentifier(tag);
  return {
    clause: `ADD COLUMN ${quoted} ${seriesColumnType(type)}${rest}`,
    after: [`COMMENT ON COLUMN ${quoteTable(name)}.${quoted} IS ${quoteLiteral(columnMark('tag') ?? '')}`],
    doneOn: ifNotExists ? '42701' : undefined,
    notice: type.notice,
  };
}

/** Translates ADD COLUMN. Columns of time-series tables have the original database's types. */
function addColumn(action: TokenReader, { table }: Target): Action | undefined {
  if (table === undefined || !isTimeSeries(table)) return undefined;
  action.takeWords('COLUMN');
  const ifNotExists = action.takeWords('IF', 'NOT', 'EXISTS');
  if (/^(?:CONSTRAINT|PRIMARY|UNIQUE|CHECK|FOREIGN|EXCLUDE)$/.test(action.keyword() ?? '')) return undefined;
  const column = action.takeName();
  const type = column === undefined ? undefined : readSeriesType(action);
  if (column === undefined || type === undefined) return undefined;
  const clause = `ADD COLUMN ${ifNotExists ? 'IF NOT EXISTS ' : ''}${quoteIdentifier(column)} ${seriesColumnType(type)}`;
  return { clause: clause + restOf(action), after: [], doneOn: undefined, notice: type.notice };
}

function drop(action: TokenReader, { table }: Target): Action | undefined {
  const asTag = TAG_WORDS.some((word) => action.isWords(word)) && isName(action, 1);
  if (asTag) action.position += 1;
  else if (action.keyword() === 'CONSTRAINT' || action.keyword() === 'EXPRESSION') return undefined;
  else action.takeWords('COLUMN');
  const ifExists = action.takeWords('IF', 'EXISTS');
  const column = action.takeName();
  if (column === undefined) return undefined;
  const known =
    table !== undefined && isTimeSeries(table) ? table.columns.find(({ name }) => name === column) : undefined;
  if (known?.role === 'time' || known?.role === 'primary-tag') {
    const part = known.role === 'time' ? 'the time' : 'a primary tag';
    throw new Refused(`column "${column}" is ${part} of a time-series table and cannot be dropped`, '42P16');
  }
  if (!asTag) return undefined;
  if (known?.role === 'data') throw noTag(column);
  const clause = `DROP COLUMN ${ifExists ? 'IF EXISTS ' : ''}${quoteIdentifier(column)}${restOf(action)}`;
  return { clause, after: [], doneOn: undefined, notice: undefined };
}

/** Returns true if a name follows, and not the final CASCADE or RESTRICT of `DROP tag CASCADE`. */
function isName(action: TokenReader, ahead: number): boolean {
  const { tokens, position, text } = action;
  const isDropBehavior =
    /^(?:CASCADE|RESTRICT)$/.test(action.keyword(ahead) ?? '') && tokens.length === position + ahead + 1;
  return nameOf(text, tokens[position + ahead]) !== undefined && !isDropBehavior;
}

/** Translates `ALTER [COLUMN | TAG] name [SET DATA] TYPE type`, and any other `ALTER TAG name …`. */
function alterColumn(action: TokenReader, { table }: Target): Action | undefined {
  const isVerb = (ahead: number): boolean => /^(?:TYPE|SET|DROP|ADD|RESTART)$/.test(action.keyword(ahead) ?? '');
  const asTag = TAG_WORDS.some((word) => action.isWords(word)) && isName(action, 1) && isVerb(2);
  if (asTag) action.position += 1;
  else action.takeWords('COLUMN');
  const series = table !== undefined && isTimeSeries(table) ? table : undefined;
  if (!asTag && series === undefined) return undefined;
  const column = action.takeName();
  if (column === undefined) return undefined;
  const role = series?.columns.find(({ name }) => name === column)?.role;
  if (asTag && (role === 'data' || role === 'time')) throw noTag(column);
  const head = `ALTER COLUMN ${quoteIdentifier(column)}`;
  if (!action.takeWords('TYPE') && !action.takeWords('SET', 'DATA', 'TYPE')) {
    return asTag ? { clause: head + restOf(action), after: [], doneOn: undefined, notice: undefined } : undefined;
  }
  const type = readSeriesType(action);
  if (type === undefined) return undefined;
  const clause = `${head} TYPE ${seriesColumnType(type)}${restOf(action)}`;
  return { clause, after: [], doneOn: undefined, notice: type.notice };
}

function renameTag(action: TokenReader, { table }: Target): Action | undefined {
  if (!TAG_WORDS.some((word) => action.isWords(word)) || !isName(action, 1) || action.keyword(2) !== 'TO')
    return undefined;
  action.position += 1;
  const from = action.takeName() ?? '';
  action.takeWords('TO');
  const to = action.takeName();
  if (to === undefined || !action.atEnd) throw unexpected(action, 'the new name of the tag');
  const role = table?.columns.find(({ name }) => name === from)?.role;
  if (role === 'data' || role === 'time') throw noTag(from);
  const clause = `RENAME COLUMN ${quoteIdentifier(from)} TO ${quoteIdentifier(to)}`;
  return { clause, after: [], doneOn: undefined, notice: undefined };
}

function noTag(column: string): Refused {
  return new Refused(`column "${column}" is not a tag: write COLUMN instead of TAG`, '42703');
}

function restOf(action: TokenReader): string {
  return action.atEnd ? '' : ` ${action.sourceBetween(action.position, action.tokens.length)}`;
}

/** Throws Refused for storage settings of the original database that PostgreSQL does not support. */
function refuseStorage(action: TokenReader): void {
  if (action.isWords('SET', 'RETENTIONS') || action.isWords('SET', 'ACTIVETIME')) {
    throw new Refused('PostgreSQL keeps rows until they are deleted: run DELETE FROM … WHERE time < … at intervals');
  }
  if (action.isWords('CONFIGURE', 'ZONE') || action.isWords('PARTITION', 'BY')) {
    throw new Refused('PostgreSQL has no zones, and partitions are created with CREATE TABLE … PARTITION OF');
  }
}
