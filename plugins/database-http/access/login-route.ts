import { component, literalOf, objectOf, TEXT, withKeywords, type ShapeOf } from '../../../src/index.ts';
import { json } from '../open-api/shared-schemas.ts';
import { ApiFailure, jsonAnswer, type MethodRoute } from '../route.ts';
import { visitOf } from './access.ts';
import type { ServerSettings } from '../server-settings.ts';
import type { SessionStore } from './session-store.ts';
import { TEXTS } from '../texts.ts';

const LOGIN = component(
  'Login',
  objectOf({ code: literalOf(0), token: withKeywords(TEXT, { pattern: '^[0-9a-f]{32}$' }) }),
);

/** `GET /restapi/login` */
export function loginRoute(sessions: SessionStore, settings: ServerSettings, defaultDatabase: string): MethodRoute {
  return {
    method: 'GET',
    path: '/restapi/login',
    summary: 'A token for user and password',
    tag: 'sessions',
    answers: { 200: json(LOGIN) },
    isLogin: true,
    handle: async (request) => {
      if (request.query.has('db')) throw new ApiFailure(400, TEXTS.databaseAtLogin);
      // Another worker may have changed the cluster settings, so they are loaded again.
      const visit = visitOf(request.login);
      await request.clock.database(() =>
        settings.load(async () => ((await visit.isAdministrator()) ? visit.executorOn(defaultDatabase) : undefined)),
      );
      const { token } = sessions.open(visit.identity);
      return jsonAnswer<ShapeOf<typeof LOGIN>>(200, { code: 0, token });
    },
  };
}
