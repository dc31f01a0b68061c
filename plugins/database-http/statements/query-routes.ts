import {
  DatabaseError,
  isDatabaseMissing,
  isUnavailable,
  type QueryResult,
  type RunTranslation,
  type Session,
  type StreamOptions,
} from '../../database/index.ts';
import {
  ANY,
  arrayOf,
  component,
  COUNT,
  literalOf,
  nullable,
  NULL,
  NUMBER,
  objectOf,
  TEXT,
  type ShapeOf,
} from '../../../src/index.ts';
import type { ClusterSettings } from './cluster-settings.ts';
import { COLUMN } from './column-meta.ts';
import { databaseFailure, databaseText } from '../database-failure.ts';
import { claimBytes, HeldAnswer } from './held-answer.ts';
import type { HeldRoom } from './held-room.ts';
import { Page } from './page.ts';
import { acceptedFormat, resultWriter } from './result-format.ts';
import type { ResultWriter } from './result-writer.ts';
import { DATABASE, json } from '../open-api/shared-schemas.ts';
import { PAGED_STATEMENT, PAGING, readSqlBody, SQL_IN_QUERY, sqlBody } from './sql-body.ts';
import { faultHeaders, faultOf } from './statement-fault.ts';
import { ApiFailure, type ApiRequest, type FailureForm, jsonAnswer, type MethodRoute } from '../route.ts';
import type { StatementConnections } from './statement-connections.ts';
import { MAX_ROUNDS } from './statement-runner.ts';
import { readStatements, type RequestStatement, translateAgain, translateIn, Turns } from './statement-text.ts';
import { TEXTS } from '../texts.ts';
import { ZONE } from '../time-zone.ts';

/** Number of rows that are read at a time: large enough to be fast, small enough for the memory. */
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
  /** Maximum length of the statement in characters. */
  readonly maxLength: number;
  /** Maximum size of an answer in JSON, in bytes. */
  readonly maxBytes: number;
  /** Time in milliseconds after which a client that reads nothing of the answer is disconnected. */
  readonly stallMs: number;
}

interface Query {
  readonly sql: string;
  readonly statement: RequestStatement;
  readonly parameters: readonly (string | null)[];
  readonly page: Page;
  readonly held: HeldAnswer;
  /** The statement that was last sent to the database. */
  executed: string;
}

const QUERY = component(
  'Query',
  objectOf({
    code: literalOf(0),
    desc: NULL,
    time: NUMBER,
    column_meta: arrayOf(COLUMN),
    data: arrayOf(arrayOf(ANY)),
    rows: COUNT,
    'truncated?': literalOf(true),
    'continuation?': nullable(TEXT),
  }),
);
const QUERY_FAILURE = component(
  'QueryFailure',
  objectOf({ code: literalOf(-1, 500), desc: TEXT, time: NULL, column_meta: NULL, data: NULL, rows: NULL }),
);

/** `code` is 500 for failed statements, as documented. Members other than `code` and `desc` are null. */
const FAILURE: FailureForm = {
  schema: QUERY_FAILURE,
  answer: ({ status, message, fault }) => {
    const code = status === 500 ? 500 : -1;
    const body = { code, desc: message, time: null, column_meta: null, data: null, rows: null } as const;
    return jsonAnswer<ShapeOf<typeof QUERY_FAILURE>>(status, body, faultHeaders(fault));
  },
};

/** `/restapi/query` runs one statement that reads, in a read-only session. `GET` has the statement in `q`. */
export function queryRoutes(
  connections: StatementConnections,
  clusterSettings: ClusterSettings,
  room: HeldRoom,
  { maxLength, maxBytes, stallMs }: QueryLimits,
): readonly MethodRoute[] {
  const common = {
    path: '/restapi/query',
    summary: 'Run one statement that reads',
    tag: 'SQL',
    answers: { 200: { ...json(QUERY), 'text/csv': TEXT, 'application/x-ndjson': TEXT }, 500: json(QUERY_FAILURE) },
    failure: FAILURE,
    handle: async (request: ApiRequest) => {
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
  } as const;
  return [
    { ...common, method: 'GET', query: { ...SQL_IN_QUERY, db: DATABASE, tz: ZONE, ...PAGING } },
    {
      ...common,
      method: 'POST',
      query: { db: DATABASE, tz: ZONE, ...PAGING },
      body: sqlBody(PAGED_STATEMENT, 'select 1'),
    },
  ];
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
    // This ends a wait for memory.
    stop.abort();
  }
}

/** A failed statement gets status 500. A missing or unavailable database is reported as a failure of the whole request. */
function statementFailure(error: DatabaseError, query: Query): ApiFailure {
  if (isUnavailable(error) || isDatabaseMissing(error)) return databaseFailure(error);
  return new ApiFailure(500, databaseText(error), { fault: faultOf(error, query.statement, query), cause: error });
}

/**
 * Reads the chunks of the result. A statement that PostgreSQL refuses may be in the SQL dialect of the original
 * database (docs/database-api.md); it is then translated and run again.
 */
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
      // The refused text is translated, not the text of the request, so that no translation undoes the previous one.
      const [refusedSql, ...others] = statements;
      if (refusedSql === undefined || others.length > 0) throw error;
      const next = await translateAgain(request.database, request, refusedSql, error.sqlstate);
      if (next === undefined) throw error;
      if (next.kind === 'refuse') throw new ApiFailure(400, `pq: ${next.message}`, { cause: error });
      ({ statements } = next);
    }
  }
}

const TEXT_COLUMN = { typeOid: 25, typeModifier: -1 };

async function* settingRows(
  name: string | undefined,
  clusterSettings: ClusterSettings,
): AsyncGenerator<QueryResult, void, undefined> {
  const rows = clusterSettings.shown(name);
  const command = 'SHOW';
  if (name !== undefined) {
    yield {
      command,
      fields: [{ name, ...TEXT_COLUMN }],
      rows: rows.map(([, value]) => [value]),
      rowCount: rows.length,
    };
    return;
  }
  const fields = [
    { name: 'variable', ...TEXT_COLUMN },
    { name: 'value', ...TEXT_COLUMN },
  ];
  yield { command, fields, rows, rowCount: rows.length };
}
