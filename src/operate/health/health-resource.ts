import type { Herder } from '../../herder/herder.ts';
import { BOOLEAN } from '../../json/open-api.ts';
import { WORKER_STATUS } from '../../rest/answers.ts';
import { askFigures } from './ask-figures.ts';
import { CONNECTOR_HEALTH, CONNECTORS_HEALTH, TASK_FIGURES } from './health-answers.ts';
import type { ConnectorHealth, HealthSummary } from './connector-health.ts';
import { VERDICTS, type Verdict } from './verdicts.ts';
import { RequestError } from '../../errors.ts';
import { askerOf, type OtherWorkers } from '../workers/other-workers.ts';
import { answer, flag, pathName, queryText, type Context, type Route } from '../../rest/resource.ts';

/**
 * The verdict on each connector, its reasons, and the figures from which it is derived. Connect does not have these
 * routes except `/health`, which it has without the parameters.
 */
export function healthResource(herder: Herder, health: ConnectorHealth, others: OtherWorkers): readonly Route[] {
  const running = new Map<string, Promise<HealthSummary>>();

  /**
   * Requests with the same credentials that arrive while a summary is being computed share it, so that many clients
   * cost the other workers one request.
   */
  const summary = async (context: Context): Promise<HealthSummary> => {
    const isLocal = flag(context, 'local');
    const key = isLocal ? 'local' : `all ${context.get('authorization')}`;
    const begin = async (): Promise<HealthSummary> =>
      health.summary(isLocal ? undefined : askFigures(others, askerOf(context), '/cluster/tasks'));
    const asked = running.get(key) ?? begin().finally(() => running.delete(key));
    running.set(key, asked);
    return asked;
  };

  return [
    {
      method: 'GET',
      path: '/connectors/:connector/health',
      summary: 'The verdict on a connector, with its reasons and the figures of its tasks',
      tag: 'connectors',
      query: { local: { description: 'only the figures of the tasks of this worker', schema: BOOLEAN } },
      answers: { 200: { anyOf: [CONNECTOR_HEALTH, TASK_FIGURES] } },
      handle: async (context) => {
        const name = pathName(context, 'connector');
        if (flag(context, 'local')) {
          answer(context, 200, await health.ownFigures(name));
          return;
        }
        const path = `/connectors/${encodeURIComponent(name)}/health?local=true`;
        answer(context, 200, await health.view(name, askFigures(others, askerOf(context), path, name)));
      },
    },
    {
      method: 'GET',
      path: '/cluster/tasks',
      summary: 'Figures of the tasks of this worker, for another worker',
      tag: 'between workers',
      answers: { 200: TASK_FIGURES },
      handle: async (context) => {
        const { tasks, committed } = await health.allOwnFigures();
        answer(context, 200, { tasks: tasks.map(({ connector, figures }) => ({ connector, ...figures })), committed });
      },
    },
    {
      method: 'GET',
      path: '/health',
      summary: 'Whether the worker is ready; with `connectors` also the verdicts on the connectors',
      tag: 'worker',
      query: {
        connectors: {
          description: 'count the connectors by their verdict, and name those that need attention',
          schema: BOOLEAN,
        },
        fail: {
          description: 'verdicts, separated by commas; the status is 503 if a connector has one of them',
          schema: { type: 'string' },
        },
        local: { description: 'only the connectors with tasks on this worker, judged by these tasks', schema: BOOLEAN },
      },
      answers: {
        200: { anyOf: [WORKER_STATUS, CONNECTORS_HEALTH] },
        500: WORKER_STATUS,
        503: { anyOf: [WORKER_STATUS, CONNECTORS_HEALTH] },
      },
      handle: async (context, next) => {
        if (!isAsked(context) || !herder.ready) {
          await next();
          return;
        }
        const failing = verdictsOf(queryText(context, 'fail'));
        const found = await summary(context);
        const isFailing = failing.some((verdict) => found.connectors[verdict] > 0);
        answer(context, isFailing ? 503 : 200, { status: isFailing ? 'unhealthy' : 'healthy', ...found });
      },
    },
  ];
}

/** `?connectors` and `?connectors=true`. */
function isAsked(context: Context): boolean {
  return queryText(context, 'connectors') === '' || flag(context, 'connectors');
}

function verdictsOf(text = ''): readonly Verdict[] {
  const names = text.split(',').map((name) => name.trim().toUpperCase());
  return names.flatMap((name) => {
    const verdict = VERDICTS.find((each) => each === name);
    if (verdict === undefined && name !== '') {
      throw new RequestError(400, `fail must be a list of these verdicts: ${VERDICTS.join(', ')}`);
    }
    return verdict ?? [];
  });
}
