import { audit } from '../audit.ts';
import { visitOf } from './access.ts';
import { SESSION_COOKIE } from './credentials.ts';
import type { SessionStore } from './session-store.ts';
import type { FailureForm, MethodRoute } from '../route.ts';

/**
 * `POST /api/v2/signin` of InfluxDB 2: a session for a user and password, as a cookie; its client for Python begins with it.
 * `POST /api/v2/signout` ends it. Browsers send the cookie from pages of the same site alone. `isSecure`: the cookie is for HTTPS alone;
 * `failure`: the form of failures of InfluxDB 2.
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
