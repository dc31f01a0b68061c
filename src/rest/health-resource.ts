import type { TaskFigures, Verdict } from '../herder/health/verdict.ts';
import type { HealthView } from '../herder/health/connector-health.ts';
import { answer, flag, pathName, type Context, type Resource, type ResourceDependencies } from './resource.ts';

/** Another worker that does not answer for so long is named in the answer. */
const PEER_MS = 3000;

/** Beyond Connect: one word for how a connector is doing, with its reasons and the figures behind it. */
export const healthResource: Resource = (router, dependencies) => {
  const { health } = dependencies.herder;
  router.get('/connectors/:connector/health', async (context) => {
    const name = pathName(context, 'connector');
    if (flag(context, 'local')) answer(context, 200, { tasks: await health.ownFigures(name) });
    else answer(context, 200, healthBody(await health.view(name, askWorkers(context, dependencies))));
  });
};

/** One request for each worker, with the credentials of who asks. */
function askWorkers(context: Context, { peers }: Pick<ResourceDependencies, 'peers'>) {
  const scheme = new URL(String(context.state['ownUrl'])).protocol;
  const authorization = context.get('authorization');
  return async (worker: string, connector: string): Promise<readonly TaskFigures[]> => {
    const { status, body } = await peers.request({
      method: 'GET',
      url: `${scheme}//${worker}/connectors/${encodeURIComponent(connector)}/health?local=true`,
      headers: authorization === '' ? {} : { authorization },
      timeoutMs: PEER_MS,
    });
    if (status !== 200) throw new Error(`worker ${worker} has answered ${String(status)}`);
    return (JSON.parse(body.toString()) as { readonly tasks: readonly TaskFigures[] }).tasks;
  };
}

function healthBody(view: HealthView) {
  return {
    name: view.name,
    type: view.type,
    verdict: view.verdict satisfies Verdict,
    sentence: view.sentence,
    since: view.since,
    reasons: view.reasons,
    tasks: view.tasks,
    silentWorkers: view.silentWorkers,
  };
}
