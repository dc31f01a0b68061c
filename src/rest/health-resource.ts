import type { HealthSummary } from '../herder/health/connector-health.ts';
import { NotUnderstoodError, type AskWorker, type PlacedFigures } from '../herder/health/gathered-figures.ts';
import { VERDICTS, type TaskFigures, type Verdict } from '../herder/health/verdict.ts';
import { RequestError } from '../errors.ts';
import { ajv } from './request-body.ts';
import {
  answer,
  flag,
  pathName,
  queryText,
  type Context,
  type Resource,
  type ResourceDependencies,
} from './resource.ts';
import { TASK_FIGURES } from './task-figures-schema.ts';
import { WorkerUrls } from './worker-urls.ts';

/** Another worker that does not answer for so long is named in the answer. */
const PEER_MS = 3000;
const LEADER_MS = 1500;
const MAX_PEER_BYTES = 33_554_432;

const isTasks = ajv.compile<{ readonly tasks: readonly (TaskFigures & { readonly connector?: string })[] }>({
  type: 'object',
  properties: { tasks: { type: 'array', items: TASK_FIGURES } },
  required: ['tasks'],
});

/** Beyond Connect: one word for how a connector is doing, with its reasons and the figures behind it. */
export const healthResource: Resource = (router, dependencies) => {
  const { health } = dependencies.herder;
  const others = new OtherWorkers(dependencies);
  const running = new Map<string, Promise<HealthSummary>>();

  /** Questions that come while the same one is being answered get its answer, so that many cost others no more than one. */
  const summary = async (context: Context): Promise<HealthSummary> => {
    const isLocal = flag(context, 'local');
    const key = isLocal ? 'local' : `all ${context.get('authorization')}`;
    const begin = async (): Promise<HealthSummary> =>
      health.summary(isLocal ? undefined : await others.ask(context, '/cluster/tasks'));
    const asked = running.get(key) ?? begin().finally(() => running.delete(key));
    running.set(key, asked);
    return asked;
  };

  router.get('/connectors/:connector/health', async (context) => {
    const name = pathName(context, 'connector');
    if (flag(context, 'local')) {
      answer(context, 200, { tasks: await health.ownFigures(name) });
      return;
    }
    const path = `/connectors/${encodeURIComponent(name)}/health?local=true`;
    answer(context, 200, await health.view(name, await others.ask(context, path, name)));
  });

  router.get('/cluster/tasks', async (context) => {
    const placed = await health.allOwnFigures();
    answer(context, 200, { tasks: placed.map(({ connector, figures }) => ({ connector, ...figures })) });
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

/** One request to each, with the credentials of who asks. */
class OtherWorkers {
  readonly #peers: ResourceDependencies['peers'];
  readonly #urls: WorkerUrls;

  constructor(dependencies: ResourceDependencies) {
    this.#peers = dependencies.peers;
    this.#urls = new WorkerUrls(dependencies);
  }

  /** `connector`: whose tasks they are, where the answer does not say it. */
  async ask(context: Context, path: string, connector?: string): Promise<AskWorker> {
    const authorization = context.get('authorization');
    let urls: ReturnType<WorkerUrls['find']> | undefined;
    return async (worker) => {
      urls ??= this.#urls.find(authorization, String(context.state['ownUrl']), LEADER_MS);
      const { url, isOfGroup } = (await urls)(worker);
      const { status, body } = await this.#peers.request({
        method: 'GET',
        url: url + path,
        headers: isOfGroup && authorization !== '' ? { authorization } : {},
        timeoutMs: PEER_MS,
        maxBytes: MAX_PEER_BYTES,
      });
      if (status !== 200) throw new NotUnderstoodError(`worker ${worker} has answered ${String(status)}`);
      return placedFigures(body, connector);
    };
  }
}

function placedFigures(body: Buffer, connector: string | undefined): readonly PlacedFigures[] {
  let answered: unknown;
  try {
    answered = JSON.parse(body.toString());
  } catch (error) {
    throw new NotUnderstoodError('the answer is not JSON', { cause: error });
  }
  if (!isTasks(answered)) throw new NotUnderstoodError('the answer does not have the figures of tasks');
  return answered.tasks.map(({ connector: own = '', ...figures }) => ({ connector: connector ?? own, figures }));
}
