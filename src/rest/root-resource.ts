import { CONNECT_VERSION, commitId } from '../version.ts';
import { answer, type Resource } from './resource.ts';

/** A worker that is not free for so long is not healthy (reference/kafka-connect.md 1.1). */
const HEALTH_TIMEOUT_MS = 10_000;

export const rootResource: Resource = (router, { herder, kafkaClusterId }) => {
  router.get('/', (context) => {
    answer(context, 200, { version: CONNECT_VERSION, commit: commitId, kafka_cluster_id: kafkaClusterId() });
  });

  router.get('/health', async (context) => {
    const stage = herder.stage.describe();
    if (!herder.ready) {
      answer(context, 503, { status: 'starting', message: `Worker is still starting up. ${stage}` });
    } else if (await isDoneWithin(herder.whenFree(), HEALTH_TIMEOUT_MS)) {
      const message = 'Worker has completed startup and is ready to handle requests.';
      answer(context, 200, { status: 'healthy', message });
    } else {
      const message = `Worker was unable to handle this request and may be unable to handle other requests. ${stage}`;
      answer(context, 500, { status: 'unhealthy', message });
    }
  });
};

async function isDoneWithin(work: Promise<void>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, limitMs, false);
  });
  try {
    return await Promise.race([work.then(() => true), limit]);
  } finally {
    clearTimeout(timer);
  }
}
