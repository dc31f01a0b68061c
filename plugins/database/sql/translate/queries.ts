import type { TokenReader } from '../token-reader.ts';
import { readOutputs } from './query-outputs.ts';
import { QueryTokens } from './query-tokens.ts';
import { type Columns, columnsOf, type Relation, Scope, UNKNOWN_COLUMNS } from './scope.ts';
import type { KnownTable } from './translation.ts';

/** Maximum nesting of queries, because the call stack is finite. */
const MAX_DEPTH = 50;

const SET_OPERATION = /^(?:UNION|INTERSECT|EXCEPT)$/;
/** Keywords that end the FROM list. */
const FROM_END = /^(?:WHERE|GROUP|HAVING|ORDER|LIMIT|OFFSET|FETCH|FOR|WINDOW|RETURNING|SET)$/;
export interface QueryVisitor {
  readonly table: (parts: readonly string[]) => KnownTable | undefined;
  /** Called for each token of a query level, excluding nested queries, with the names visible there. */
  readonly token: (scope: Scope, index: number) => void;
}

type Tables = ReadonlyMap<string, Columns>;

/**
 * Walks the queries of a SELECT, INSERT, UPDATE or DELETE, also inside EXPLAIN and `CREATE … AS`: UNION arms, common
 * table expressions, tables in FROM, and subqueries, each with the names visible there. Other statements are not
 * visited. The position of the reader is undefined afterwards.
 */
export function walkQueries(reader: TokenReader, visitor: QueryVisitor): void {
  const walk = new QueryWalk(reader, visitor);
  const start = walk.start();
  if (start !== undefined) walk.level(start, reader.tokens.length, undefined, new Map());
}

class QueryWalk {
  readonly #reader: TokenReader;
  readonly #visitor: QueryVisitor;
  readonly #tokens: QueryTokens;
  #depth = 0;

  constructor(reader: TokenReader, visitor: QueryVisitor) {
    this.#reader = reader;
    this.#visitor = visitor;
    this.#tokens = new QueryTokens(reader);
  }

  /** Returns the index of the first token of the statement's query. */
  start(): number | undefined {
    const tokens = this.#tokens;
    const word = tokens.word(0);
    if (tokens.startsQuery(0)) return 0;
    if (word !== 'EXPLAIN' && word !== 'CREATE') return undefined;
    const last = this.#reader.tokens.length;
    for (let index = 1; index < last; index = tokens.after(index)) {
      const isFirst = tokens.startsQuery(index);
      if (isFirst && (word === 'EXPLAIN' ? tokens.word(index) !== 'TABLE' : tokens.word(index - 1) === 'AS'))
        return index;
    }
    return undefined;
  }

  /** Visits one level between parentheses, or the whole statement, and returns its output columns. */
  level(start: number, end: number, outer: Scope | undefined, tables: Tables): Columns {
    const tokens = this.#tokens;
    if (this.#depth >= MAX_DEPTH) return UNKNOWN_COLUMNS;
    this.#depth += 1;
    let visible = tables;
    let position = start;
    if (tokens.word(position) === 'WITH') ({ visible, position } = this.#commonTables(position, end, outer, tables));
    let outputs: Columns | undefined;
    while (position < end) {
      let armEnd = position;
      while (armEnd < end && !SET_OPERATION.test(tokens.word(armEnd))) armEnd = tokens.after(armEnd);
      const columns = this.#arm(position, Math.min(armEnd, end), outer, visible);
      outputs ??= columns;
      position = armEnd + 1;
      if (/^(?:ALL|DISTINCT)$/.test(tokens.word(position))) position += 1;
    }
    this.#depth -= 1;
    return outputs ?? UNKNOWN_COLUMNS;
  }

  /** `WITH [RECURSIVE] name [(columns)] AS [[NOT] MATERIALIZED] (query), …` */
  #commonTables(start: number, end: number, outer: Scope | undefined, tables: Tables) {
    const tokens = this.#tokens;
    const visible = new Map(tables);
    let position = start + 1;
    const isRecursive = tokens.word(position) === 'RECURSIVE';
    if (isRecursive) position += 1;
    for (;;) {
      const name = tokens.name(position);
      let open = position + 1;
      let names: readonly string[] = [];
      if (tokens.isSign(open, '(')) {
        names = tokens.names(open);
        open = tokens.after(open);
      }
      while (open < end && !tokens.isSign(open, '(')) open += 1;
      if (name === undefined || open >= end) return { visible, position: end };
      if (isRecursive) visible.set(name, UNKNOWN_COLUMNS);
      visible.set(name, renamed(this.level(open + 1, tokens.close(open), outer, visible), names));
      position = tokens.after(open);
      // SEARCH and CYCLE clauses may follow.
      while (position < end && !tokens.isSign(position, ',') && !tokens.startsQuery(position)) {
        position = tokens.after(position);
      }
      if (!tokens.isSign(position, ',')) return { visible, position };
      position += 1;
    }
  }

  #arm(start: number, end: number, outer: Scope | undefined, tables: Tables): Columns {
    const tokens = this.#tokens;
    switch (tokens.word(start)) {
      case 'SELECT':
        return this.#select(start, end, outer, tables);
      case 'UPDATE':
      case 'DELETE':
        return this.#change(start, end, outer, tables);
      case 'INSERT':
        return this.#insert(start, end, outer, tables);
      default:
        if (!tokens.enclosesQuery(start)) {
          this.#visit(start, end, new Scope([], false, outer), tables, new Set());
          return UNKNOWN_COLUMNS;
        }
        return this.level(start + 1, tokens.close(start), outer, tables);
    }
  }

  #select(start: number, end: number, outer: Scope | undefined, tables: Tables): Columns {
    const tokens = this.#tokens;
    const from = tokens.find(start, end, (index) => tokens.word(index) === 'FROM' && !tokens.isDistinctFrom(index));
    const list = new FromList(outer, tables);
    if (from < end) this.#readFrom(from + 1, end, list);
    const scope = list.scope();
    this.#visit(start, end, scope, tables, list.read);
    const listEnd = Math.min(
      from,
      tokens.find(start, end, (index) => FROM_END.test(tokens.word(index))),
    );
    return readOutputs(this.#reader, start + 1, listEnd, scope, (index) => tokens.after(index));
  }

  /** `UPDATE t SET … FROM …`, `DELETE FROM t USING …` */
  #change(start: number, end: number, outer: Scope | undefined, tables: Tables): Columns {
    const tokens = this.#tokens;
    const isUpdate = tokens.word(start) === 'UPDATE';
    const list = new FromList(outer, tables);
    const next = this.#readTable(isUpdate ? start + 1 : start + 2, end, list);
    const word = isUpdate ? 'FROM' : 'USING';
    const more = tokens.find(next, end, (index) => tokens.word(index) === word && !tokens.isDistinctFrom(index));
    if (more < end) this.#readFrom(more + 1, end, list);
    this.#visit(next, end, list.scope(), tables, list.read);
    return UNKNOWN_COLUMNS;
  }

  /**
   * Visits the query that supplies the rows. ON CONFLICT is not visited, because its names do not refer to the tables
   * of that query.
   */
  #insert(start: number, end: number, outer: Scope | undefined, tables: Tables): Columns {
    const tokens = this.#tokens;
    const query = tokens.find(start + 1, end, (index) => tokens.startsQuery(index));
    const conflict = tokens.find(
      query,
      end,
      (index) => tokens.word(index) === 'ON' && tokens.word(index + 1) === 'CONFLICT',
    );
    if (query < conflict) this.level(query, conflict, outer, tables);
    return UNKNOWN_COLUMNS;
  }

  /** Reads the tables of FROM or USING up to the next clause. */
  #readFrom(start: number, end: number, list: FromList): void {
    const tokens = this.#tokens;
    let position = start;
    while (position < end) {
      position = this.#readTable(position, end, list);
      while (position < end && !tokens.isSign(position, ',') && tokens.word(position) !== 'JOIN') {
        const word = tokens.word(position);
        if (FROM_END.test(word)) return;
        if (word === 'USING' || word === 'NATURAL') list.mergesColumns = true;
        position = tokens.after(position);
      }
      position += 1;
    }
  }

  /** Reads one entry of the FROM list and returns its end. */
  #readTable(start: number, end: number, list: FromList): number {
    const tokens = this.#tokens;
    let position = start;
    const isLateral = tokens.word(position) === 'LATERAL';
    while (/^(?:LATERAL|ONLY)$/.test(tokens.word(position))) position += 1;
    let columns: Columns | undefined;
    let ownName: string | undefined;
    if (tokens.isSign(position, '(')) {
      const close = tokens.close(position);
      if (tokens.enclosesQuery(position)) {
        list.read.add(position);
        columns = this.level(position + 1, close, isLateral ? list.scope() : list.outer, list.tables);
      } else this.#readFrom(position + 1, close, list);
      position = close + 1;
    } else {
      const parts = tokens.nameParts(position);
      if (parts.length === 0) return this.#unreadable(position, list);
      position += parts.length * 2 - 1;
      ownName = parts.at(-1);
      if (tokens.isSign(position, '(')) {
        columns = UNKNOWN_COLUMNS;
        position = tokens.after(position);
        if (tokens.word(position) === 'WITH' && tokens.word(position + 1) === 'ORDINALITY') position += 2;
      } else {
        const common = parts.length === 1 ? list.tables.get(parts[0] ?? '') : undefined;
        columns = common ?? columnsOf(this.#visitor.table(parts));
        if (tokens.isSign(position, '*')) position += 1;
      }
    }
    const { alias, names, next } = tokens.alias(position, end);
    if (columns !== undefined) list.relations.push({ alias: alias ?? ownName, columns: renamed(columns, names) });
    else if (alias !== undefined) list.relations.push({ alias, columns: UNKNOWN_COLUMNS });
    return next;
  }

  #unreadable(position: number, list: FromList): number {
    list.relations.push({ alias: undefined, columns: UNKNOWN_COLUMNS });
    return this.#tokens.after(position);
  }

  /** Visits the tokens of a level and descends into its subqueries. */
  #visit(start: number, end: number, scope: Scope, tables: Tables, read: ReadonlySet<number>): void {
    const tokens = this.#tokens;
    for (let index = start; index < end; index++) {
      if (!tokens.enclosesQuery(index)) {
        this.#visitor.token(scope, index);
        continue;
      }
      const close = tokens.close(index);
      if (!read.has(index)) this.level(index + 1, close, scope, tables);
      index = close;
    }
  }
}

/** The FROM list of a level while it is being read. */
class FromList {
  readonly outer: Scope | undefined;
  readonly tables: Tables;
  readonly relations: Relation[] = [];
  /** Opening parentheses of subqueries that were already visited. */
  readonly read = new Set<number>();
  mergesColumns = false;

  constructor(outer: Scope | undefined, tables: Tables) {
    this.outer = outer;
    this.tables = tables;
  }

  scope(): Scope {
    return new Scope([...this.relations], this.mergesColumns, this.outer);
  }
}

function renamed(columns: Columns, names: readonly string[]): Columns {
  if (names.length === 0) return columns;
  const list = columns.list.map(({ name, column }, index) => ({ name: names[index] ?? name, column }));
  return columns.isComplete ? { list, isComplete: true } : UNKNOWN_COLUMNS;
}
