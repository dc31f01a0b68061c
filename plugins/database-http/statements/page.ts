import { createHash } from 'node:crypto';
import type { QueryResult } from '../../database/index.ts';
import { ApiFailure, type ApiRequest } from '../route.ts';
import type { SqlBody } from './sql-body.ts';

/** Kinds of statements that are allowed in FROM. For all other kinds, the rows before the page are read and dropped. */
const SELECTABLE: ReadonlySet<string> = new Set(['select', 'values', 'table']);
const TOKEN = /^([0-9a-z]{1,10})\.([\w-]{16})$/;

/**
 * The part of a result that a request reads: at most `limit` rows from the position in the continuation token of the previous answer.
 * The token contains the number of earlier rows and identifies the statement; the service stores nothing between requests. The
 * statement runs again for each page. Pages are therefore consistent only if its ORDER BY is unambiguous, and rows that are inserted
 * or deleted between requests shift later rows.
 */
export class Page {
  readonly offset: number;
  readonly limit: number | undefined;
  /** Whether the request has a limit or a token. The body of its answer then contains the token of the next page. */
  readonly isAsked: boolean;
  readonly #statement: string;
  /** Number of rows that must still be skipped. */
  #skip = 0;
  #taken = 0;
  #hasMore = false;

  /** Throws an ApiFailure with status 400 if the token belongs to another statement. */
  constructor(request: ApiRequest, { sql, parameters, limit, continuation }: SqlBody) {
    const identity = JSON.stringify([request.login.user, request.database, request.timeZone, sql, parameters]);
    this.#statement = createHash('sha256').update(identity).digest('base64url').slice(0, 16);
    this.limit = limit;
    this.isAsked = limit !== undefined || continuation !== undefined;
    this.offset = continuation === undefined ? 0 : this.#offsetOf(continuation);
  }

  /**
   * Returns a statement whose result has the rows of the page and one more. `kind` is the kind of the client's
   * statement; `sql` may be its translation.
   */
  statement(sql: string, kind: string): string {
    this.#skip = 0;
    this.#taken = 0;
    if (this.offset === 0 && this.limit === undefined) return sql;
    if (!SELECTABLE.has(kind)) {
      this.#skip = this.offset;
      return sql;
    }
    const limit = this.limit === undefined ? '' : ` LIMIT ${String(this.limit + 1)}`;
    return `SELECT * FROM (${sql}\n) AS sluice_page OFFSET ${String(this.offset)}${limit}`;
  }

  /** Returns the rows of a chunk that belong to the page. */
  take(rows: QueryResult['rows']): QueryResult['rows'] {
    const from = Math.min(this.#skip, rows.length);
    this.#skip -= from;
    const end = this.limit === undefined ? rows.length : Math.min(rows.length, from + this.limit - this.#taken);
    this.#taken += end - from;
    this.#hasMore ||= end < rows.length;
    return from === 0 && end === rows.length ? rows : rows.slice(from, end);
  }

  /** Whether the page is full and a further row was read. */
  get isFull(): boolean {
    return this.#hasMore;
  }

  /** The token of the next page; `undefined` for the last page, or if no row was written. */
  continuation({
    rowCount,
    truncated,
  }: {
    readonly rowCount: number;
    readonly truncated: boolean;
  }): string | undefined {
    if ((!this.#hasMore && !truncated) || rowCount === 0) return undefined;
    return `${(this.offset + rowCount).toString(36)}.${this.#statement}`;
  }

  #offsetOf(token: string): number {
    const [, offset = '', statement] = TOKEN.exec(token) ?? [];
    if (statement !== this.#statement) {
      throw new ApiFailure(
        400,
        'the continuation token belongs to another statement: send it with the same statement, parameters, database, time zone and user as the previous request',
      );
    }
    return parseInt(offset, 36);
  }
}
