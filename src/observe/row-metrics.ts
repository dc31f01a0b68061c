import { AggregatorRegistry, Counter, Registry } from 'prom-client';

/** Metrics of rows on their way into databases, whoever writes them; a part of the page of metrics. */
export const rowMetrics = new Registry();

const collapsed = new Counter({
  name: 'sluice_rows_collapsed_total',
  help: 'Rows that became one with a later row of their batch, because both have the same key or fall into one microsecond',
  labelNames: ['connector', 'path'],
  registers: [rowMetrics],
});

/** One metric with its values, as prom-client gives it as JSON. */
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];

/** The metrics of several threads as those of one: counters are added up. */
export function addRowMetrics(ofThreads: readonly (readonly MetricValues[])[]): readonly MetricValues[] {
  return pageOf(ofThreads).getMetricsAsArray() as MetricValues[];
}

/** As Prometheus reads them. */
export function rowMetricsText(metrics: readonly MetricValues[]): Promise<string> {
  return pageOf([metrics]).metrics();
}

function pageOf(ofThreads: readonly (readonly MetricValues[])[]): Registry {
  return AggregatorRegistry.aggregate(ofThreads.map((metrics) => [...metrics]));
}

/** `writer`: the connector, or the path of the HTTP API. */
export function countCollapsed(writer: { readonly connector: string } | { readonly path: string }, rows: number): void {
  if (rows > 0) collapsed.inc({ ...writer }, rows);
}
