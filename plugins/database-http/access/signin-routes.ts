import { audit } from '../audit.ts';
import { visitOf } from './access.ts';
import { SESSION_COOKIE } from './credentials.ts';
import type { SessionStore } from './session-store.ts';
import type { FailureForm, MethodRoute } from '../route.ts';

/**
 * `POST /api/v2/signin` of InfluxDB 2, which its Python client calls first: opens a session for a user and password, and returns it
 * as a cookie. `POST /api/v2/signout` ends the session. Browsers send the cookie only from pages of the same site.
 * @param isSecure whether the cookie is sent over HTTPS only
 * @param failure form of failures in InfluxDB 2
 */
export function signinRoutes(sessions: SessionStore, isSecure: boolean, failure: FailureForm): readonly MethodRoute[] {
  const attributes = `; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return [
    {
      method: 'POST',
      path: '/api/v2/signin',
      summary: 'A session as a cookie for user and password',
      tag: 'InfluxDB',
      answers: { 204: null },
      failure,
      isLogin: true,
      credentials: 'any',
      handle: async (request) => {
        const { token } = sessions.open(visitOf(request.login).identity);
        return { status: 204, headers: { 'Set-Cookie': `${SESSION_COOKIE}=${token}${attributes}` } };
      },
    },
    {
      method: 'POST',
      path: '/api/v2/signout',
      summary: 'End the session of the cookie',
      tag: 'InfluxDB',
      answers: { 204: null },
      failure,
      credentials: 'any',
      handle: async (request) => {
        const { session } = visitOf(request.login);
        if (session !== undefined) {
          sessions.delete(session);
          audit(request, { statement: 'delete-session', database: request.database, succeeded: true });
        }
        return { status: 204, headers: { 'Set-Cookie': `${SESSION_COOKIE}=; Max-Age=0${attributes}` } };
      },
    },
  ];
}
