import type { HealthSummary } from './connector-health.ts';
import { VERDICTS, type Verdict } from './verdict.ts';
import { RequestError } from '../../errors.ts';
import { askerOf, OtherWorkers } from '../workers/other-workers.ts';
import { answer, flag, pathName, queryText, type Context, type Resource } from '../../rest/resource.ts';

/** Beyond Connect: one word for how a connector is doing, with its reasons and the figures behind it. */
export const healthResource: Resource = (router, dependencies) => {
  const { health } = dependencies;
  const others = new OtherWorkers(dependencies);
  const running = new Map<string, Promise<HealthSummary>>();

  /** Questions that come while the same one is being answered get its answer, so that many cost others no more than one. */
  const summary = async (context: Context): Promise<HealthSummary> => {
    const isLocal = flag(context, 'local');
    const key = isLocal ? 'local' : `all ${context.get('authorization')}`;
    const begin = async (): Promise<HealthSummary> =>
      health.summary(isLocal ? undefined : others.ask(askerOf(context), '/cluster/tasks'));
    const asked = running.get(key) ?? begin().finally(() => running.delete(key));
    running.set(key, asked);
    return asked;
  };

  router.get('/connectors/:connector/health', async (context) => {
    const name = pathName(context, 'connector');
    if (flag(context, 'local')) {
      answer(context, 200, await health.ownFigures(name));
      return;
    }
    const path = `/connectors/${encodeURIComponent(name)}/health?local=true`;
    answer(context, 200, await health.view(name, others.ask(askerOf(context), path, name)));
  });

  router.get('/cluster/tasks', async (context) => {
    const { tasks, committed } = await health.allOwnFigures();
    answer(context, 200, { tasks: tasks.map(({ connector, figures }) => ({ connector, ...figures })), committed });
  });

  router.get('/health', async (context, next) => {
    if (!isAsked(context) || !dependencies.herder.ready) {
      await next();
      return;
    }
    const failing = verdictsOf(queryText(context, 'fail'));
    const found = await summary(context);
    const isFailing = failing.some((verdict) => found.connectors[verdict] > 0);
    answer(context, isFailing ? 503 : 200, { status: isFailing ? 'unhealthy' : 'healthy', ...found });
  });
};

/** `?connectors` and `?connectors=true`. */
function isAsked(context: Context): boolean {
  return queryText(context, 'connectors') === '' || flag(context, 'connectors');
}

function verdictsOf(text = ''): readonly Verdict[] {
  const names = text.split(',').map((name) => name.trim().toUpperCase());
  return names.flatMap((name) => {
    const verdict = VERDICTS.find((each) => each === name);
    if (verdict === undefined && name !== '') {
      throw new RequestError(400, `fail is a list of verdicts, of ${VERDICTS.join(', ')}`);
    }
    return verdict ?? [];
  });
}
