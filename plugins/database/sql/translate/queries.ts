import type { TokenReader } from '../token-reader.ts';
import { readOutputs } from './query-outputs.ts';
import { type Columns, columnsOf, type Relation, Scope, UNKNOWN_COLUMNS } from './scope.ts';
import type { KnownTable } from './translation.ts';

/** Limit for nested queries, as the call stack is finite. */
const MAX_DEPTH = 50;

const SET_OPERATION = /^(?:UNION|INTERSECT|EXCEPT)$/;
const QUERY_WORD = /^(?:SELECT|WITH|VALUES|TABLE|INSERT|UPDATE|DELETE)$/;
/** Keywords that end the FROM list. */
const FROM_END = /^(?:WHERE|GROUP|HAVING|ORDER|LIMIT|OFFSET|FETCH|FOR|WINDOW|RETURNING|SET)$/;
/** Keywords that end an entry of the FROM list, so that they are not aliases. */
const NO_ALIAS =
  /^(?:WHERE|GROUP|HAVING|ORDER|LIMIT|OFFSET|FETCH|FOR|WINDOW|JOIN|INNER|LEFT|RIGHT|FULL|CROSS|NATURAL|ON|USING|SET|RETURNING|TABLESAMPLE|UNION|INTERSECT|EXCEPT|WITH)$/;

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
  /** By opening parenthesis: index of the closing one, or the number of tokens. */
  readonly #closing: Int32Array;
  /** True if a query starts after this opening parenthesis. */
  readonly #beginsQuery: Uint8Array;
  #depth = 0;

  constructor(reader: TokenReader, visitor: QueryVisitor) {
    this.#reader = reader;
    this.#visitor = visitor;
    const { length } = reader.tokens;
    this.#closing = new Int32Array(length).fill(length);
    this.#beginsQuery = new Uint8Array(length + 1);
    const open: number[] = [];
    for (let index = 0; index < length; index++) {
      if (this.#isSign(index, '(')) open.push(index);
      else if (this.#isSign(index, ')')) this.#closing[open.pop() ?? index] = index;
    }
    for (let index = length - 1; index >= 0; index--) {
      if (!this.#isSign(index, '(')) continue;
      const isQuery = QUERY_WORD.test(this.#word(index + 1)) || this.#beginsQuery[index + 1] === 1;
      this.#beginsQuery[index] = isQuery ? 1 : 0;
    }
  }

  /** The first token of the statement's query. */
  start(): number | undefined {
    const word = this.#word(0);
    if (QUERY_WORD.test(word) || this.#beginsQuery[0] === 1) return 0;
    if (word !== 'EXPLAIN' && word !== 'CREATE') return undefined;
    const last = this.#reader.tokens.length;
    for (let index = 1; index < last; index = this.#after(index)) {
      const isFirst = QUERY_WORD.test(this.#word(index)) || this.#beginsQuery[index] === 1;
      if (isFirst && (word === 'EXPLAIN' ? this.#word(index) !== 'TABLE' : this.#word(index - 1) === 'AS'))
        return index;
    }
    return undefined;
  }

  /** Visits one level between parentheses, or the whole statement, and returns its output columns. */
  level(start: number, end: number, outer: Scope | undefined, tables: Tables): Columns {
    if (this.#depth >= MAX_DEPTH) return UNKNOWN_COLUMNS;
    this.#depth += 1;
    let visible = tables;
    let position = start;
    if (this.#word(position) === 'WITH') ({ visible, position } = this.#commonTables(position, end, outer, tables));
    let outputs: Columns | undefined;
    while (position < end) {
      let armEnd = position;
      while (armEnd < end && !SET_OPERATION.test(this.#word(armEnd))) armEnd = this.#after(armEnd);
      const columns = this.#arm(position, Math.min(armEnd, end), outer, visible);
      outputs ??= columns;
      position = armEnd + 1;
      if (/^(?:ALL|DISTINCT)$/.test(this.#word(position))) position += 1;
    }
    this.#depth -= 1;
    return outputs ?? UNKNOWN_COLUMNS;
  }

  /** `WITH [RECURSIVE] name [(columns)] AS [[NOT] MATERIALIZED] (query), …` */
  #commonTables(start: number, end: number, outer: Scope | undefined, tables: Tables) {
    const visible = new Map(tables);
    let position = start + 1;
    const isRecursive = this.#word(position) === 'RECURSIVE';
    if (isRecursive) position += 1;
    for (;;) {
      const name = this.#nameAt(position);
      let open = position + 1;
      let names: readonly string[] = [];
      if (this.#isSign(open, '(')) {
        names = this.#names(open);
        open = this.#after(open);
      }
      while (open < end && !this.#isSign(open, '(')) open += 1;
      if (name === undefined || open >= end) return { visible, position: end };
      if (isRecursive) visible.set(name, UNKNOWN_COLUMNS);
      visible.set(name, renamed(this.level(open + 1, this.#close(open), outer, visible), names));
      position = this.#after(open);
      // SEARCH and CYCLE clauses may follow.
      while (position < end && !this.#isSign(position, ',') && !QUERY_WORD.test(this.#word(position))) {
        if (this.#beginsQuery[position] === 1) break;
        position = this.#after(position);
      }
      if (!this.#isSign(position, ',')) return { visible, position };
      position += 1;
    }
  }

  #arm(start: number, end: number, outer: Scope | undefined, tables: Tables): Columns {
    switch (this.#word(start)) {
      case 'SELECT':
        return this.#select(start, end, outer, tables);
      case 'UPDATE':
      case 'DELETE':
        return this.#change(start, end, outer, tables);
      case 'INSERT':
        return this.#insert(start, end, outer, tables);
      default:
        if (this.#beginsQuery[start] !== 1) {
          this.#visit(start, end, new Scope([], false, outer), tables, new Set());
          return UNKNOWN_COLUMNS;
        }
        return this.level(start + 1, this.#close(start), outer, tables);
    }
  }

  #select(start: number, end: number, outer: Scope | undefined, tables: Tables): Columns {
    const from = this.#find(start, end, (index) => this.#word(index) === 'FROM' && !this.#isDistinctFrom(index));
    const list = new FromList(outer, tables);
    if (from < end) this.#readFrom(from + 1, end, list);
    const scope = list.scope();
    this.#visit(start, end, scope, tables, list.read);
    const listEnd = Math.min(
      from,
      this.#find(start, end, (index) => FROM_END.test(this.#word(index))),
    );
    return readOutputs(this.#reader, start + 1, listEnd, scope, (index) => this.#after(index));
  }

  /** `UPDATE t SET … FROM …`, `DELETE FROM t USING …` */
  #change(start: number, end: number, outer: Scope | undefined, tables: Tables): Columns {
    const isUpdate = this.#word(start) === 'UPDATE';
    const list = new FromList(outer, tables);
    const next = this.#readTable(isUpdate ? start + 1 : start + 2, end, list);
    const word = isUpdate ? 'FROM' : 'USING';
    const more = this.#find(next, end, (index) => this.#word(index) === word && !this.#isDistinctFrom(index));
    if (more < end) this.#readFrom(more + 1, end, list);
    this.#visit(next, end, list.scope(), tables, list.read);
    return UNKNOWN_COLUMNS;
  }

  /** Visits the query that supplies the rows; ON CONFLICT refers to other tables. */
  #insert(start: number, end: number, outer: Scope | undefined, tables: Tables): Columns {
    const query = this.#find(
      start + 1,
      end,
      (index) => QUERY_WORD.test(this.#word(index)) || this.#beginsQuery[index] === 1,
    );
    const conflict = this.#find(
      query,
      end,
      (index) => this.#word(index) === 'ON' && this.#word(index + 1) === 'CONFLICT',
    );
    if (query < conflict) this.level(query, conflict, outer, tables);
    return UNKNOWN_COLUMNS;
  }

  /** Reads the tables of FROM or USING up to the next clause. */
  #readFrom(start: number, end: number, list: FromList): void {
    let position = start;
    while (position < end) {
      position = this.#readTable(position, end, list);
      while (position < end && !this.#isSign(position, ',') && this.#word(position) !== 'JOIN') {
        const word = this.#word(position);
        if (FROM_END.test(word)) return;
        if (word === 'USING' || word === 'NATURAL') list.mergesColumns = true;
        position = this.#after(position);
      }
      position += 1;
    }
  }

  /** Reads one entry of the FROM list and returns its end. */
  #readTable(start: number, end: number, list: FromList): number {
    let position = start;
    const isLateral = this.#word(position) === 'LATERAL';
    while (/^(?:LATERAL|ONLY)$/.test(this.#word(position))) position += 1;
    let columns: Columns | undefined;
    let ownName: string | undefined;
    if (this.#isSign(position, '(')) {
      const close = this.#close(position);
      if (this.#beginsQuery[position] === 1) {
        list.read.add(position);
        columns = this.level(position + 1, close, isLateral ? list.scope() : list.outer, list.tables);
      } else this.#readFrom(position + 1, close, list);
      position = close + 1;
    } else {
      const parts = this.#partsAt(position);
      if (parts.length === 0) return this.#unreadable(position, list);
      position += parts.length * 2 - 1;
      ownName = parts.at(-1);
      if (this.#isSign(position, '(')) {
        columns = UNKNOWN_COLUMNS;
        position = this.#after(position);
        if (this.#word(position) === 'WITH' && this.#word(position + 1) === 'ORDINALITY') position += 2;
      } else {
        const common = parts.length === 1 ? list.tables.get(parts[0] ?? '') : undefined;
        columns = common ?? columnsOf(this.#visitor.table(parts));
        if (this.#isSign(position, '*')) position += 1;
      }
    }
    const { alias, names, next } = this.#aliasAt(position, end);
    if (columns !== undefined) list.relations.push({ alias: alias ?? ownName, columns: renamed(columns, names) });
    else if (alias !== undefined) list.relations.push({ alias, columns: UNKNOWN_COLUMNS });
    return next;
  }

  #unreadable(position: number, list: FromList): number {
    list.relations.push({ alias: undefined, columns: UNKNOWN_COLUMNS });
    return this.#after(position);
  }

  /** `[AS] alias [(names)]` */
  #aliasAt(start: number, end: number): { alias: string | undefined; names: readonly string[]; next: number } {
    let position = start;
    if (this.#word(position) === 'AS') position += 1;
    else if (NO_ALIAS.test(this.#word(position))) return { alias: undefined, names: [], next: start };
    const alias = position < end ? this.#nameAt(position) : undefined;
    if (alias === undefined) return { alias, names: [], next: start };
    position += 1;
    if (!this.#isSign(position, '(')) return { alias, names: [], next: position };
    return { alias, names: this.#names(position), next: this.#after(position) };
  }

  /** Visits the tokens of a level and descends into its subqueries. */
  #visit(start: number, end: number, scope: Scope, tables: Tables, read: ReadonlySet<number>): void {
    for (let index = start; index < end; index++) {
      if (this.#beginsQuery[index] !== 1) {
        this.#visitor.token(scope, index);
        continue;
      }
      const close = this.#close(index);
      if (!read.has(index)) this.level(index + 1, close, scope, tables);
      index = close;
    }
  }

  /** `IS [NOT] DISTINCT FROM` */
  #isDistinctFrom(index: number): boolean {
    return this.#word(index - 1) === 'DISTINCT' && /^(?:IS|NOT)$/.test(this.#word(index - 2));
  }

  /** The first matching token outside parentheses, or `end`. */
  #find(start: number, end: number, fits: (index: number) => boolean): number {
    let index = start;
    while (index < end && !fits(index)) index = this.#after(index);
    return Math.min(index, end);
  }

  /** The position after a token, or after the parentheses that it opens. */
  #after(index: number): number {
    return (this.#isSign(index, '(') ? this.#close(index) : index) + 1;
  }

  #close(open: number): number {
    return this.#closing[open] ?? this.#reader.tokens.length;
  }

  /** The word in upper case unless it follows a dot; empty for other tokens. */
  #word(index: number): string {
    const token = this.#reader.tokens[index];
    if (token?.kind !== 'word' || token.end - token.start > 9) return '';
    return this.#isSign(index - 1, '.') ? '' : this.#reader.source(token).toUpperCase();
  }

  #isSign(index: number, sign: string): boolean {
    const token = this.#reader.tokens[index];
    const isOperator = token?.kind === 'punctuation' || token?.kind === 'operator';
    return isOperator && token.end - token.start === 1 && this.#reader.text.charAt(token.start) === sign;
  }

  #nameAt(index: number): string | undefined {
    this.#reader.position = index;
    return this.#reader.takeName();
  }

  #partsAt(index: number): readonly string[] {
    this.#reader.position = index;
    return this.#reader.takeNameParts() ?? [];
  }

  #names(open: number): readonly string[] {
    const names: string[] = [];
    for (let index = open + 1; index < this.#close(open); index += 2) {
      const name = this.#nameAt(index);
      if (name === undefined) break;
      names.push(name);
    }
    return names;
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
