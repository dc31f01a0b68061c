import type { Herder } from '../herder/herder.ts';
import { arrayOf, mapOf, objectOf, TEXT, withMore } from '../json/open-api.ts';
import type { Logger } from '../observe/logger.ts';
import { LOGGER_LEVEL, type LoggerLevelAnswer } from './answers.ts';
import { RequestError } from '../errors.ts';
import { parseLogLevel, type LoggerLevel, type LogLevels } from '../observe/log-levels.ts';
import { readConfig } from './request-body.ts';
import { answer, answerEmpty, pathName, queryText, withinTimeLimit, type Route } from './resource.ts';

/** Maximum number of loggers. A worker has a few hundred. */
const MAX_LOGGERS = 5000;
const MAX_NAME = 500;

/** `/admin/loggers`: levels of loggers, of this worker or of the cluster. */
export function loggersResource(herder: Herder, logLevels: LogLevels, logger: Logger): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/admin/loggers',
      summary: 'The loggers that have a level',
      tag: 'loggers',
      answers: { 200: mapOf(LOGGER_LEVEL) },
      handle: (context) => {
        const all = [...logLevels.all()].map(([name, level]) => [name, view(level)] as const);
        answer(context, 200, Object.fromEntries(all));
      },
    },
    {
      method: 'GET',
      path: '/admin/loggers/:logger',
      summary: 'The level of a logger',
      tag: 'loggers',
      answers: { 200: LOGGER_LEVEL },
      handle: (context) => {
        const name = pathName(context, 'logger');
        const level = logLevels.get(name);
        if (level === undefined) throw new RequestError(404, `Logger ${name} not found.`);
        answer(context, 200, view(level));
      },
    },
    {
      method: 'PUT',
      path: '/admin/loggers/:logger',
      summary: 'Set the level of a logger, on this worker (200, with the loggers it affects) or on all (204)',
      tag: 'loggers',
      query: { scope: { description: '`worker` (the default) or `cluster`', schema: TEXT } },
      body: withMore(objectOf({ level: TEXT })),
      answers: { 200: arrayOf(TEXT), 204: null },
      handle: async (context) => {
        const name = pathName(context, 'logger');
        const { level: given } = await readConfig(context.req);
        if (given === undefined || given === null) {
          throw new RequestError(400, "Desired 'level' parameter was not specified in request.");
        }
        const level = parseLogLevel(given);
        if (level === undefined) throw new RequestError(404, `invalid log level '${given}'.`);
        if (logLevels.get(name) === undefined) requireRoom(name, logLevels.all().size);
        const scope = queryText(context, 'scope')?.toLowerCase() ?? 'worker';
        if (scope === 'cluster') {
          await withinTimeLimit(herder.stage, herder.requests.setClusterLogLevel(name, level));
          answerEmpty(context, 204);
          return;
        }
        if (scope !== 'worker') {
          logger.warn(`The scope ${scope} of PUT /admin/loggers is unknown; using worker`);
        }
        answer(context, 200, logLevels.set(name, level));
      },
    },
  ];
}

/**
 * Limits the length and the number of names that clients add. Nothing may ever be logged under such a name, but its
 * level is kept until the worker ends.
 * @throws RequestError 400: the name is too long, or there are too many loggers
 */
function requireRoom(name: string, count: number): void {
  if (name.length > MAX_NAME) {
    throw new RequestError(400, `The name of a logger has at most ${String(MAX_NAME)} characters`);
  }
  if (count >= MAX_LOGGERS) {
    throw new RequestError(
      400,
      `This worker knows ${String(count)} loggers, and accepts no more names under which nothing is logged`,
    );
  }
}

function view({ level, lastModifiedMs }: LoggerLevel): LoggerLevelAnswer {
  return { level, last_modified: lastModifiedMs };
}
