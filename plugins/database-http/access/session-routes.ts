import { audit } from '../audit.ts';
import { visitOf } from './access.ts';
import { arrayOf, component, COUNT, literalOf, objectOf, TEXT, type ShapeOf } from '../../../src/index.ts';
import { json } from '../open-api/shared-schemas.ts';
import { type ApiAnswer, ApiFailure, type ApiRequest, jsonAnswer, type MethodRoute } from '../route.ts';
import type { ServerSettings } from '../server-settings.ts';
import type { ApiSession, SessionStore } from './session-store.ts';
import { TEXTS } from '../texts.ts';

const SESSIONS = component(
  'Sessions',
  objectOf({
    code: literalOf(0),
    tokens: arrayOf(
      objectOf({
        SessionID: TEXT,
        Username: TEXT,
        Token: TEXT,
        MaxLifeTime: COUNT,
        LastLoginTime: TEXT,
        ExpirationTime: TEXT,
      }),
    ),
  }),
);
const DELETED = component('Deleted', objectOf({ code: literalOf(0), desc: TEXT }));

/** `/restapi/session`: lists sessions and ends them. */
export function sessionRoutes(sessions: SessionStore, settings: ServerSettings): readonly MethodRoute[] {
  return [
    {
      method: 'GET',
      path: '/restapi/session',
      summary: 'List the sessions of the user; all sessions for administrators',
      tag: 'sessions',
      answers: { 200: json(SESSIONS) },
      handle: async (request) => list(request, sessions, settings),
    },
    {
      method: 'DELETE',
      path: '/restapi/session',
      summary: 'End the session whose id is the body; without a body, the session of the token',
      tag: 'sessions',
      body: { 'text/plain': TEXT },
      answers: { 200: json(DELETED) },
      handle: async (request) => end(request, sessions),
    },
  ];
}

async function list(request: ApiRequest, sessions: SessionStore, settings: ServerSettings): Promise<ApiAnswer> {
  const visit = visitOf(request.login);
  const isAdministrator = await request.clock.database(() => visit.isAdministrator());
  const seen = sessions.list().filter(({ identity }) => isAdministrator || identity.user === visit.user);
  const records = seen.map((session) => record(session, visit.user, settings));
  return { status: 200, body: `{"code":0,"tokens":[${records.join(',')}]}` };
}

/**
 * A session as JSON, in the documented form. Tokens of users other than `user` are truncated. The JSON is built as text, because
 * the lifetime may exceed a JavaScript number.
 */
function record(session: ApiSession, user: string, settings: ServerSettings): string {
  const token = session.token.reveal();
  const isOwn = session.identity.user === user;
  const seconds = settings.timeoutMinutes * 60n;
  const fields = [
    `"SessionID":${JSON.stringify(session.id)}`,
    `"Username":${JSON.stringify(session.identity.user)}`,
    `"Token":${JSON.stringify(isOwn ? token : `${token.slice(0, SHOWN_TOKEN_CHARACTERS)}*`)}`,
    `"MaxLifeTime":${seconds}`,
    `"LastLoginTime":"${utcText(session.lastUsedAtMs)}"`,
    `"ExpirationTime":"${utcText(session.lastUsedAtMs + settings.timeoutMs)}"`,
  ];
  return `{${fields.join(',')}}`;
}

/** Number of characters that an administrator sees of another user's token. */
const SHOWN_TOKEN_CHARACTERS = 8;

/** Latest time that fits `YYYY-MM-DD HH:MM:SS`. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

function utcText(epochMs: number): string {
  return new Date(Math.min(epochMs, LAST_MS)).toISOString().slice(0, 19).replace('T', ' ');
}

async function end(request: ApiRequest, sessions: SessionStore): Promise<ApiAnswer> {
  // The body may end with a line break if it comes from a file.
  const id = (await request.text()).trim();
  const own = visitOf(request.login).session;
  if (id === '' && own === undefined) throw new ApiFailure(400, TEXTS.noSessionNamed);
  const session = id === '' ? own : sessions.list().find((each) => each.id === id.toLowerCase());
  if (session === undefined) throw new ApiFailure(400, TEXTS.noSession);
  const isOwn = session.identity.user === request.login.user;
  if (!isOwn && !(await request.clock.database(() => request.login.isAdministrator())))
    throw new ApiFailure(400, TEXTS.notYours);
  sessions.delete(session);
  audit(request, { statement: 'delete-session', database: request.database, succeeded: true });
  return jsonAnswer<ShapeOf<typeof DELETED>>(200, { code: 0, desc: TEXTS.deleted });
}
