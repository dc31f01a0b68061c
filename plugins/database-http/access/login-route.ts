import { ApiFailure, jsonAnswer, type Route } from '../route.ts';
import { visitOf } from './access.ts';
import type { ServerSettings } from '../server-settings.ts';
import type { SessionStore } from './session-store.ts';
import { TEXTS } from '../texts.ts';

/** `GET /restapi/login`: a token for a user and password. */
export function loginRoute(sessions: SessionStore, settings: ServerSettings, defaultDatabase: string): Route {
  return {
    methods: ['GET'],
    path: '/restapi/login',
    isLogin: true,
    handle: async (request) => {
      if (request.query.has('db')) throw new ApiFailure(400, TEXTS.databaseAtLogin);
      // Another worker may have changed them.
      const visit = visitOf(request.login);
      await request.clock.database(() =>
        settings.load(async () => ((await visit.isAdministrator()) ? visit.executorOn(defaultDatabase) : undefined)),
      );
      const { token } = sessions.open(visit.identity);
      return jsonAnswer(200, { code: 0, token });
    },
  };
}
