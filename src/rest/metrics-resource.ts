import { metricsText } from '../herder/worker-metrics.ts';
import type { Resource } from './resource.ts';

/** Beyond Connect, which has JMX alone: what Prometheus reads. */
export const metricsResource: Resource = (router, { herder, threads }) => {
  router.get('/metrics', async (context) => {
    context.status = 200;
    context.set('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
    context.body = await metricsText(herder, threads);
  });
};
