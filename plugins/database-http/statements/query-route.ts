import { DatabaseError, type QueryResult, type RunTranslation, type Session } from '../../../src/index.ts';
import { clusterSettings } from './cluster-settings.ts';
import { databaseFailure, databaseText, isUnavailable } from '../database-failure.ts';
import { HeldAnswer } from './held-answer.ts';
import { ResultJson } from './result-json.ts';
import { type ApiAnswer, ApiFailure, type ApiRequest, jsonAnswer, type Route } from '../route.ts';
import { MAX_ROUNDS, pinned, type RunnerParts } from './statement-runner.ts';
import { readStatements, type RequestStatement, translateAgain, translateIn } from './statement-text.ts';
import { TEXTS } from '../texts.ts';
import { notEmpty } from './write-routes.ts';

/** Rows that are read at a time: large enough for speed, small enough for memory (reference/ecosystem.md 3.3). */
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

export interface QueryParts extends RunnerParts {
  readonly maxBytes: number;
  readonly holdMs: number;
  readonly stallMs: number;
}

/** `POST /restapi/query`: one statement that reads, in a read-only session. */
export function queryRoute(parts: QueryParts): Route {
  return {
    methods: ['POST'],
    path: '/restapi/query',
    handle: async (request) => {
      const sql = notEmpty(await request.text());
      const statement = request.clock.parse(() => onlyStatement(sql, parts.maxStatementLength));
      const held = new HeldAnswer(request.clock.startedAt, parts);
      held.fillFrom(execute(request, statement, held, parts));
      return held.answer();
    },
    failure,
  };
}

/** `code` 500 for statements that failed, as in the documents; all that could not be given is null. */
function failure({ status, message }: ApiFailure): ApiAnswer {
  const nothing = { time: null, column_meta: null, data: null, rows: null };
  return jsonAnswer(status, { code: status === 500 ? 500 : -1, desc: message, ...nothing });
}

function onlyStatement(sql: string, maxLength: number): RequestStatement {
  const statements = readStatements(sql, maxLength);
  const first = statements.next();
  if (first.done === true) throw new ApiFailure(400, TEXTS.emptyBody);
  if (statements.next().done !== true) throw new ApiFailure(400, TEXTS.oneQuery);
  const { kind, keyword, writes } = first.value.classification;
  if (!KINDS.has(kind) || (writes && kind !== 'explain')) {
    const named = keyword === 'with' || keyword === '' ? kind : keyword;
    throw new ApiFailure(400, TEXTS.notForQuery(named));
  }
  return first.value;
}

async function execute(
  request: ApiRequest,
  statement: RequestStatement,
  held: HeldAnswer,
  parts: QueryParts,
): Promise<void> {
  const rules = { int64AsString: request.query.get('int64') === 'string', maxBytes: parts.maxBytes };
  const send = async (chunks: AsyncIterable<QueryResult>): Promise<void> => {
    let json: ResultJson | undefined;
    for await (const chunk of chunks) {
      if (json === undefined) {
        json = new ResultJson(chunk.fields, rules);
        held.begin(json);
      }
      await held.write(json.rows(chunk.rows));
      if (json.truncated) break;
    }
  };
  try {
    const translation = await translateIn(request.database, request, statement.text);
    switch (translation.kind) {
      case 'show-cluster-setting':
        await send(settingRows(translation.name, parts));
        return;
      case 'refuse':
        throw new ApiFailure(400, `pq: ${translation.message}`);
      case 'run': {
        const database = translation.database ?? request.database;
        await pinned(request, database, parts, { readTransaction: true }, (session) =>
          send(request.clock.stream(read(session, translation, request))),
        );
        return;
      }
      default:
        throw new ApiFailure(400, TEXTS.notForQuery(statement.classification.keyword));
    }
  } catch (error) {
    throw error instanceof DatabaseError ? statementFailure(error) : error;
  }
}

/** A statement that fails is 500; that the database is missing shows first where the statement's tables are looked up. */
function statementFailure(error: DatabaseError): ApiFailure {
  if (isUnavailable(error) || error.sqlstate === '3D000') return databaseFailure(error);
  return new ApiFailure(500, databaseText(error), { cause: error });
}

/** The chunks of the result. A statement that the database refuses may be the original's SQL, and is translated then. */
async function* read(
  session: Session,
  first: RunTranslation,
  request: ApiRequest,
): AsyncGenerator<QueryResult, void, undefined> {
  const options = { signal: request.signal, timeoutMs: request.statementTimeoutMs };
  let { statements } = first;
  for (let round = 0; ; round++) {
    let hasBegun = false;
    try {
      for (const statement of statements.slice(0, -1)) await session.query(statement, [], options);
      const chunks = session.stream(statements.at(-1) ?? '', [], { ...options, chunkRows: CHUNK_ROWS });
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

async function* settingRows(name: string | undefined, parts: QueryParts): AsyncGenerator<QueryResult, void, undefined> {
  const rows = clusterSettings(name, parts.settings);
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
