import type { Herder } from '../../herder/herder.ts';
import type { Logger } from '../../observe/logger.ts';
import type { LogLevels } from '../../observe/log-levels.ts';
import type { ConnectorHealth } from '../health/connector-health.ts';
import { RequestError, toError } from '../../errors.ts';
import { TemporaryLevels } from '../../observe/temporary-levels.ts';
import { askerOf, type OtherWorkers } from '../workers/other-workers.ts';
import { enumOf, nullable, NUMBER, objectOf, withKeywords } from '../../json/open-api.ts';
import { validatorOf } from '../../json/validator.ts';
import { readPlainJson } from '../../rest/request-body.ts';
import { answer, flag, pathName, type Route } from '../../rest/resource.ts';
import { CONNECTOR_LEVEL, type ConnectorLevel } from './console-answers.ts';

const MAX_MINUTES = 60;
const LEVELS = ['DEBUG', 'TRACE'] as const;

const isSwitch = validatorOf(
  objectOf({
    level: nullable(enumOf(LEVELS)),
    'minutes?': withKeywords(NUMBER, { exclusiveMinimum: 0, maximum: MAX_MINUTES }),
  }),
);

/**
 * `/ui/connectors/{connector}/log-level`: a temporary log level of a connector. It is served on the listeners of
 * `/admin/loggers`, because both change log levels.
 */
export function connectorLevelResource(
  herder: Herder,
  health: ConnectorHealth,
  logLevels: LogLevels,
  others: OtherWorkers,
  logger: Logger,
): readonly Route[] {
  const levels = new TemporaryLevels(logLevels);
  const path = '/ui/connectors/:connector/log-level';

  return [
    {
      method: 'GET',
      path,
      answers: { 200: CONNECTOR_LEVEL },
      handle: (context) => {
        const connector = pathName(context, 'connector');
        herder.directory.require(connector);
        const level: ConnectorLevel = { level: null, remainingMs: 0, ...levels.get(connector) };
        answer(context, 200, level);
      },
    },
    {
      method: 'PUT',
      path,
      answers: { 200: CONNECTOR_LEVEL },
      handle: async (context) => {
        const connector = pathName(context, 'connector');
        herder.directory.require(connector);
        const given = await readPlainJson(context.req);
        if (!isSwitch(given)) {
          throw new RequestError(
            400,
            `The body must be {"level": "DEBUG", "minutes": 10}: the level is DEBUG, TRACE, or null to reset it, and minutes are at most ${String(MAX_MINUTES)}`,
          );
        }
        const { level, minutes = 10 } = given;
        if (level === null) levels.end(connector);
        else if (!levels.set(connector, level, minutes * 60_000)) {
          throw new RequestError(
            503,
            'Too many connectors have a level of their own; reset the level of another connector first',
          );
        }
        const what = level === null ? 'reset to the levels of its loggers' : `${level} for ${String(minutes)} min`;
        logger.info({ connector }, `Log level of the connector: ${what}`);
        const workers = flag(context, 'local') ? [] : health.workers(connector);
        const send = others.send(askerOf(context));
        const unreached: { worker: string; reason: string }[] = [];
        await Promise.all(
          workers.map(async (worker) => {
            if (worker === herder.workerId) return;
            const target = `/ui/connectors/${encodeURIComponent(connector)}/log-level?local=true`;
            await send(worker, 'PUT', target, given).catch((error: unknown) => {
              unreached.push({ worker, reason: toError(error).message });
            });
          }),
        );
        const set: ConnectorLevel = { level: null, remainingMs: 0, ...levels.get(connector), unreached };
        answer(context, 200, set);
      },
    },
  ];
}
