import { ApiFailure, jsonAnswer, type Route } from '../route.ts';
import { visitOf } from './access.ts';
import type { ServerSettings } from '../server-settings.ts';
import type { SessionStore } from './session-store.ts';
import { TEXTS } from '../texts.ts';

export interface LoginParts {
  readonly sessions: SessionStore;
  readonly settings: ServerSettings;
  readonly defaultDatabase: string;
}

/** `GET /restapi/login`: a token for a user and password. */
export function loginRoute({ sessions, settings, defaultDatabase }: LoginParts): Route {
  return {
    methods: ['GET'],
    path: '/restapi/login',
    handle: async (request) => {
      if (request.query.has('db')) throw new ApiFailure(400, TEXTS.databaseAtLogin);
      // Another worker may have changed them.
      await request.clock.database(() => settings.load(request.executorOn(defaultDatabase)));
      const { token } = sessions.open(visitOf(request.login).identity);
      return jsonAnswer(200, { code: 0, token });
    },
  };
}
