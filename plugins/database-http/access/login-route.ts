import { ApiFailure, jsonAnswer, type Route } from '../route.ts';
import { visitOf } from './access.ts';
import type { ServerSettings } from '../server-settings.ts';
import type { SessionStore } from './session-store.ts';
import { TEXTS } from '../texts.ts';

export interface LoginDependencies {
  readonly sessions: SessionStore;
  readonly settings: ServerSettings;
  readonly defaultDatabase: string;
}

/** `GET /restapi/login`: a token for a user and password. */
export function loginRoute({ sessions, settings, defaultDatabase }: LoginDependencies): Route {
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
