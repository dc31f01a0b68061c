import { collectDefaultMetrics, Registry, type MetricObjectWithValues, type MetricValue } from 'prom-client';
import type { MetricsPage } from './metrics-page.ts';

/** Metrics of the process itself: CPU, memory, event loop, garbage collector. */
const registry = new Registry();
let collects = false;

interface SampleWithName extends MetricValue<string> {
  readonly metricName?: string;
}

/** `process_…` and `nodejs_…`, as Prometheus' client for Node names them. */
export async function addProcess(page: MetricsPage): Promise<void> {
  if (!collects) collectDefaultMetrics({ register: registry });
  collects = true;
  const families = (await registry.getMetricsAsJSON()) as MetricObjectWithValues<SampleWithName>[];
  for (const { name, help, type, values } of families) {
    // The type declarations say that `type` is an enum of numbers, but at run time it is a name.
    const shown = String(type) as 'counter' | 'gauge' | 'histogram' | 'summary';
    page.declare(name, shown, help);
    for (const { metricName = name, labels, value } of values) {
      const texts = Object.fromEntries(Object.entries(labels).map(([label, text]) => [label, String(text)]));
      page.part(name, shown, help, { name: metricName, labels: texts, value });
    }
  }
}
