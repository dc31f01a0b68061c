import type { SqlAnswer, SqlFailure, SqlLogin } from '../common/answers.ts';
import { request } from '../common/api.ts';
import { parseExact } from '../common/exact-json.ts';

/** A value of the result. Integers beyond the safe range of a number are `bigint`. */
export type Cell = NonNullable<Extract<SqlAnswer, { data?: unknown }>['data']>[number][number] | bigint;

export interface SqlResult {
  /** Empty for statements that return no rows. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly Cell[])[];
  /** Whether the statement has more rows than `rows`. */
  readonly hasMore: boolean;
  readonly ms: number;
}

/** The session of a database user. It exists only in the memory of the page, so it is lost when the page is closed. */
export interface Session {
  readonly user: string;
  readonly token: string;
}

export const MAX_ROWS = 1000;

export async function logIn(user: string, password: string): Promise<Session | SqlFailure> {
  const answer = await request<SqlLogin>('POST', '/ui/sql/login', { user, password });
  return 'failure' in answer ? answer.failure : { user, token: answer.token };
}

export async function logOut({ token }: Session): Promise<void> {
  await request('POST', '/ui/sql/logout', { token });
}

/** Runs a statement. If the signal is aborted, the worker cancels the statement, and the promise rejects with an AbortError. */
export async function run(
  { token }: Session,
  sql: string,
  database: string,
  signal: AbortSignal,
  limit = MAX_ROWS,
): Promise<SqlResult | SqlFailure> {
  const beganAt = performance.now();
  const kind = kindOf(sql);
  const body = { token, sql, kind, limit, ...(database === '' ? {} : { database }) };
  const response = await fetch('/ui/sql/run', {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });
  const text = await response.text();
  if (!response.ok) return { status: response.status, message: messageOf(text) };
  const answer = parseExact(text) as SqlAnswer;
  if ('failure' in answer) return answer.failure;
  const { column_meta: columns, data, truncated, continuation } = answer;
  return {
    columns: (columns ?? []).map(([name, type]) => ({ name, type })),
    rows: data ?? [],
    hasMore: truncated === true || (continuation ?? null) !== null,
    ms: Math.round(performance.now() - beganAt),
  };
}

export function isFailure(answer: object): answer is SqlFailure {
  return 'message' in answer;
}

const BLANKS = /^(?:\s+|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/|\()*/;

/** First keywords of statements that are neither queries nor inserts. */
const CHANGES: ReadonlySet<string> = new Set(
  (
    'abort alter analyze begin call checkpoint close cluster comment commit copy create deallocate declare delete discard do ' +
    'drop end execute fetch grant import listen load lock merge move notify prepare reassign refresh reindex release reset ' +
    'revoke rollback savepoint security set start truncate unlisten update vacuum'
  ).split(' '),
);

/**
 * The kind of a statement, by its first word. The API has a path for each kind, which refuses the other kinds. An unknown word counts as
 * a query, so that the database reports the syntax error.
 * @internal
 */
export function kindOf(sql: string): 'query' | 'insert' | 'ddl' {
  const [word = ''] = /^[a-z]*/i.exec(sql.replace(BLANKS, '')) ?? [];
  const first = word.toLowerCase();
  if (first === 'insert') return 'insert';
  return CHANGES.has(first) ? 'ddl' : 'query';
}

function messageOf(text: string): string {
  try {
    return String((JSON.parse(text) as { readonly message: unknown }).message);
  } catch {
    return text.slice(0, 500);
  }
}
