import {
  DatabaseError,
  isDatabaseMissing,
  isUnavailable,
  type QueryResult,
  type RunTranslation,
  type Session,
  type StreamOptions,
} from '../../database/index.ts';
import type { ClusterSettings } from './cluster-settings.ts';
import { databaseFailure, databaseText } from '../database-failure.ts';
import { claimBytes, HeldAnswer } from './held-answer.ts';
import type { HeldRoom } from './held-room.ts';
import { Page } from './page.ts';
import { acceptedFormat, resultWriter } from './result-format.ts';
import type { ResultWriter } from './result-writer.ts';
import { readSqlBody } from './sql-body.ts';
import { faultHeaders, faultOf } from './statement-fault.ts';
import { type ApiAnswer, ApiFailure, type ApiRequest, jsonAnswer, type Route } from '../route.ts';
import type { StatementConnections } from './statement-connections.ts';
import { MAX_ROUNDS } from './statement-runner.ts';
import { readStatements, type RequestStatement, translateAgain, translateIn, Turns } from './statement-text.ts';
import { TEXTS } from '../texts.ts';

/** Rows that are read at a time: large enough for speed, small enough for memory. */
const CHUNK_ROWS = 1000;

const KINDS: ReadonlySet<string> = new Set([
  'select',
  'values',
  'table',
  'explain',
  'show',
  'show-create',
  'show-cluster-setting',
]);

export interface QueryLimits {
  /** Length of the statement. */
  readonly maxLength: number;
  /** Size of the answer. */
  readonly maxBytes: number;
  /** Time that a client has to take more of the answer. */
  readonly stallMs: number;
}

interface Query {
  readonly sql: string;
  readonly statement: RequestStatement;
  readonly parameters: readonly (string | null)[];
  readonly page: Page;
  readonly held: HeldAnswer;
  /** What the database was given last. */
  executed: string;
}

/** `POST /restapi/query`, and `GET` with `q`: one statement that reads, in a read-only session. */
export function queryRoute(
  connections: StatementConnections,
  clusterSettings: ClusterSettings,
  room: HeldRoom,
  { maxLength, maxBytes, stallMs }: QueryLimits,
): Route {
  return {
    methods: ['GET', 'POST'],
    path: '/restapi/query',
    handle: async (request) => {
      const body = await readSqlBody(request, maxLength);
      const statement = await request.clock.parseWith(() => onlyStatement(body.sql, maxLength));
      const page = new Page(request, body);
      const isJson = acceptedFormat(request.headers.accept) === 'json';
      const held = new HeldAnswer(request.clock.startedAt, {
        room,
        stallMs,
        page,
        maxBytes: isJson ? maxBytes : Number.MAX_SAFE_INTEGER,
        holdBytes: claimBytes(maxBytes),
      });
      const query = { sql: body.sql, statement, parameters: body.parameters, page, held, executed: '' };
      held.fillFrom(execute(request, query, connections, clusterSettings, maxBytes));
      return held.answer();
    },
    failure,
  };
}

/** `code` 500 for statements that failed, as in the documents; all that could not be given is null. */
function failure({ status, message, fault }: ApiFailure): ApiAnswer {
  const nothing = { time: null, column_meta: null, data: null, rows: null };
  return jsonAnswer(status, { code: status === 500 ? 500 : -1, desc: message, ...nothing }, faultHeaders(fault));
}

async function onlyStatement(sql: string, maxLength: number): Promise<RequestStatement> {
  const turns = new Turns();
  let first: RequestStatement | undefined;
  for (const statement of readStatements(sql, maxLength)) {
    if (statement !== undefined && first !== undefined) throw new ApiFailure(400, TEXTS.oneQuery);
    first ??= statement;
    await turns.pause();
  }
  if (first === undefined) throw new ApiFailure(400, TEXTS.emptyBody);
  const { kind, keyword, changing, writes } = first.classification;
  if (kind === 'explain' || kind === 'no-statement' || (KINDS.has(kind) && !writes)) return first;
  if (keyword !== 'with') throw new ApiFailure(400, TEXTS.notForQuery(keyword === '' ? kind : keyword));
  throw new ApiFailure(400, TEXTS.changesInQuery(changing ?? kind));
}

async function execute(
  request: ApiRequest,
  query: Query,
  connections: StatementConnections,
  clusterSettings: ClusterSettings,
  maxBytes: number,
): Promise<void> {
  const { statement, page, held } = query;
  const int64AsString = request.query.get('int64') === 'string';
  const rules = { int64AsString, maxBytes, page };
  const format = acceptedFormat(request.headers.accept);
  const send = async (chunks: AsyncIterable<QueryResult>): Promise<void> => {
    let writer: ResultWriter | undefined;
    for await (const chunk of chunks) {
      if (writer === undefined) {
        writer = resultWriter(format, chunk.fields, rules);
        held.begin(writer);
      }
      await held.write(writer.rows(page.take(chunk.rows)));
      if (writer.truncated || page.isFull) break;
    }
  };
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(request.signal.reason);
  request.signal.addEventListener('abort', onAbort, { once: true });
  try {
    const translation = await translateIn(request.database, request, statement.text);
    switch (translation.kind) {
      case 'show-cluster-setting':
        await send(settingRows(translation.name, clusterSettings));
        return;
      case 'refuse':
        throw new ApiFailure(400, `pq: ${translation.message}`);
      case 'run': {
        const database = translation.database ?? request.database;
        const gauge = held.gauge(request.login.user, stop);
        const options = { signal: stop.signal, timeoutMs: request.statementTimeoutMs, chunkRows: CHUNK_ROWS, gauge };
        await connections.pinned(request, database, { readTransaction: true, holder: held.clientWait }, (session) =>
          send(request.clock.stream(read(session, translation, request, query, options))),
        );
        return;
      }
      default:
        throw new ApiFailure(400, TEXTS.notForQuery(statement.classification.keyword));
    }
  } catch (error) {
    throw error instanceof DatabaseError ? statementFailure(error, query) : error;
  } finally {
    request.signal.removeEventListener('abort', onAbort);
    // Nothing waits for room any more.
    stop.abort();
  }
}

/** A statement that fails is 500; that the database is missing shows first where the statement's tables are looked up. */
function statementFailure(error: DatabaseError, query: Query): ApiFailure {
  if (isUnavailable(error) || isDatabaseMissing(error)) return databaseFailure(error);
  return new ApiFailure(500, databaseText(error), { fault: faultOf(error, query.statement, query), cause: error });
}

/** The chunks of the result. A statement that the database refuses may be the original's SQL, and is translated then. */
async function* read(
  session: Session,
  first: RunTranslation,
  request: ApiRequest,
  query: Query,
  options: StreamOptions,
): AsyncGenerator<QueryResult, void, undefined> {
  const {
    statement: { classification },
    parameters,
    page,
  } = query;
  let { statements } = first;
  for (let round = 0; ; round++) {
    let hasBegun = false;
    try {
      for (const statement of statements.slice(0, -1)) await session.query(statement, [], options);
      query.executed = page.statement(statements.at(-1) ?? '', classification.kind);
      const chunks = session.stream(query.executed, parameters, options);
      for await (const chunk of chunks) {
        hasBegun = true;
        yield chunk;
      }
      return;
    } catch (error) {
      if (hasBegun || round >= MAX_ROUNDS || !(error instanceof DatabaseError) || error.sqlstate === undefined)
        throw error;
      // The statement that was refused is what is translated on, so that no round undoes the one before.
      const [refusedSql, ...others] = statements;
      if (refusedSql === undefined || others.length > 0) throw error;
      const next = await translateAgain(request.database, request, refusedSql, error.sqlstate);
      if (next === undefined) throw error;
      if (next.kind === 'refuse') throw new ApiFailure(400, `pq: ${next.message}`, { cause: error });
      ({ statements } = next);
    }
  }
}

const TEXT = { typeOid: 25, typeModifier: -1 };

async function* settingRows(
  name: string | undefined,
  clusterSettings: ClusterSettings,
): AsyncGenerator<QueryResult, void, undefined> {
  const rows = clusterSettings.shown(name);
  const command = 'SHOW';
  if (name !== undefined) {
    yield { command, fields: [{ name, ...TEXT }], rows: rows.map(([, value]) => [value]), rowCount: rows.length };
    return;
  }
  const fields = [
    { name: 'variable', ...TEXT },
    { name: 'value', ...TEXT },
  ];
  yield { command, fields, rows, rowCount: rows.length };
}
