import { metricsPage, type MetricsOptions } from '../herder/worker-metrics.ts';
import { CONTENT_TYPES, formatFor } from '../observe/metrics/metrics-page.ts';
import { commitId, CONNECT_VERSION } from '../version.ts';
import type { Context, Resource, ResourceDependencies } from './resource.ts';

/** Beyond Connect, which has JMX alone: what Prometheus reads. */
export const metricsResource: Resource = (router, dependencies) => {
  router.get('/metrics', (context) => answerMetrics(context, dependencies));
};

/** In the format that the client prefers. */
export async function answerMetrics(
  context: Context,
  { herder, threads, metricNamings }: Pick<ResourceDependencies, 'herder' | 'threads' | 'metricNamings'>,
): Promise<void> {
  const options: MetricsOptions = { namings: metricNamings, version: CONNECT_VERSION, commitId };
  const page = await metricsPage(herder, threads, options);
  const format = formatFor(context.get('Accept'));
  context.status = 200;
  context.set('Content-Type', CONTENT_TYPES[format]);
  context.body = page.text(format);
}
