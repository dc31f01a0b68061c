import { RequestError } from '../errors.ts';
import { parseLogLevel, type LoggerLevel } from '../observe/log-levels.ts';
import { readConfig } from './request-body.ts';
import { answer, answerEmpty, pathName, queryText, withinTimeLimit, type Resource } from './resource.ts';

/** A worker has some hundred. */
const MAX_LOGGERS = 5000;
const MAX_NAME = 500;

/** `/admin/loggers`: levels of loggers, of this worker or of the cluster. */
export const loggersResource: Resource = (router, { herder, logLevels, logger }) => {
  router.get('/admin/loggers', (context) => {
    const all = [...logLevels.all()].map(([name, level]) => [name, view(level)] as const);
    answer(context, 200, Object.fromEntries(all));
  });

  router.get('/admin/loggers/:logger', (context) => {
    const name = pathName(context, 'logger');
    const level = logLevels.get(name);
    if (level === undefined) throw new RequestError(404, `Logger ${name} not found.`);
    answer(context, 200, view(level));
  });

  router.put('/admin/loggers/:logger', async (context) => {
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
      logger.warn(`The scope ${scope} of PUT /admin/loggers is not known; worker is assumed`);
    }
    answer(context, 200, logLevels.set(name, level));
  });
};

/** @throws RequestError 400: names that nobody logs under would be kept until the worker ends */
function requireRoom(name: string, count: number): void {
  if (name.length > MAX_NAME) {
    throw new RequestError(400, `The name of a logger has at most ${String(MAX_NAME)} characters`);
  }
  if (count >= MAX_LOGGERS) {
    throw new RequestError(
      400,
      `This worker knows ${String(count)} loggers, and takes no more names that nobody logs under`,
    );
  }
}

function view({ level, lastModifiedMs }: LoggerLevel) {
  return { level, last_modified: lastModifiedMs };
}
