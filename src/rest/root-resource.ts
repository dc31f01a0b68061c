import type { Herder } from '../herder/herder.ts';
import { SERVER_INFO, WORKER_STATUS } from './answers.ts';
import { within } from '../async/within.ts';
import { CONNECT_VERSION, commitId } from '../version.ts';
import type { StageTracker } from '../observe/stage.ts';
import { mainThreadView, slowest, type ThreadView, type WorkerThreads } from '../observe/thread-figures.ts';
import { answer, type Context, type Route } from './resource.ts';

/** Connect's limit for the answer of `/health`. */
const HEALTH_TIMEOUT_MS = 10_000;

export function rootResource(
  herder: Herder,
  threads: WorkerThreads,
  kafkaClusterId: () => Promise<string>,
): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/',
      summary: 'Version of Kafka Connect that the worker is compatible with, and the id of the Kafka cluster',
      tag: 'worker',
      answers: { 200: SERVER_INFO },
      handle: async (context) => {
        answer(context, 200, { version: CONNECT_VERSION, commit: commitId, kafka_cluster_id: await kafkaClusterId() });
      },
    },
    {
      method: 'GET',
      path: '/health',
      summary: 'Whether the worker is ready',
      tag: 'worker',
      answers: { 200: WORKER_STATUS, 500: WORKER_STATUS, 503: WORKER_STATUS },
      handle: async (context) => {
        if (!herder.ready) {
          answerStarting(context, herder.stage, threads.views());
          return;
        }
        const stage = herder.stage.describe();
        setDelayHeaders(context, threads.views());
        if (await within(herder.requests.whenFree(), HEALTH_TIMEOUT_MS)) {
          const message = 'Worker has completed startup and is ready to handle requests.';
          answer(context, 200, { status: 'healthy', message });
        } else {
          const message = `Worker was unable to handle this request and may be unable to handle other requests. ${stage}`;
          answer(context, 500, { status: 'unhealthy', message });
        }
      },
    },
  ];
}

/** `/health` of a worker that is not ready. */
export function answerStarting(
  context: Context,
  stage: StageTracker,
  threads: readonly ThreadView[] = [mainThreadView()],
): void {
  setDelayHeaders(context, threads);
  answer(context, 503, { status: 'starting', message: `Worker is still starting up. ${stage.describe()}` });
}

/**
 * Reports the event-loop delay of the slowest thread in headers. The body has no member for it, because clients and
 * Connect's own tests expect exactly Connect's body.
 */
function setDelayHeaders(context: Context, threads: readonly ThreadView[]): void {
  const { thread, loopDelaySeconds } = slowest(threads);
  context.set('X-Event-Loop-Delay-Seconds', loopDelaySeconds.toFixed(3));
  if (thread !== 'main') context.set('X-Event-Loop-Delay-Thread', String(thread));
}
