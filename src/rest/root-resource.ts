import { within } from '../async/within.ts';
import { eventLoopWatch } from '../observe/event-loop-watch.ts';
import { CONNECT_VERSION, commitId } from '../version.ts';
import type { StageTracker } from '../observe/stage.ts';
import { answer, type Context, type Resource } from './resource.ts';

/** Connect's limit for the answer of `/health`. */
const HEALTH_TIMEOUT_MS = 10_000;

export const rootResource: Resource = (router, { herder, kafkaClusterId }) => {
  router.get('/', async (context) => {
    answer(context, 200, { version: CONNECT_VERSION, commit: commitId, kafka_cluster_id: await kafkaClusterId() });
  });

  router.get('/health', async (context) => {
    if (!herder.ready) {
      answerStarting(context, herder.stage);
      return;
    }
    const stage = herder.stage.describe();
    setDelayHeader(context);
    if (await within(herder.requests.whenFree(), HEALTH_TIMEOUT_MS)) {
      const message = 'Worker has completed startup and is ready to handle requests.';
      answer(context, 200, { status: 'healthy', message });
    } else {
      const message = `Worker was unable to handle this request and may be unable to handle other requests. ${stage}`;
      answer(context, 500, { status: 'unhealthy', message });
    }
  });
};

/** `/health` of a worker that is not ready. */
export function answerStarting(context: Context, stage: StageTracker): void {
  setDelayHeader(context);
  answer(context, 503, { status: 'starting', message: `Worker is still starting up. ${stage.describe()}` });
}

/** A header, since clients and Connect's own tests know the body. */
function setDelayHeader(context: Context): void {
  context.set('X-Event-Loop-Delay-Seconds', eventLoopWatch.longestSeconds().toFixed(3));
}
