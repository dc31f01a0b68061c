import type { MetricsPage } from '../../observe/metrics/metrics-page.ts';
import type { ThreadFigures, ThreadMeasurement } from '../../observe/thread-figures.ts';

/**
 * Node.js's own figures under the names that dashboards use for a Java worker (prometheus/client_java, jmx_exporter).
 * Metrics without a counterpart in Node.js are left out (docs/compatibility.md#metrics).
 */
export function addVirtualMachine(page: MetricsPage, { threads, counts }: ThreadMeasurement): void {
  const figures = threads.flatMap((thread) => thread.figures ?? []);
  const sum = (of: (thread: ThreadFigures) => number): number =>
    figures.reduce((total, thread) => total + of(thread), 0);
  const used = sum(({ heapBytes }) => heapBytes);
  const committed = sum(({ heapCommittedBytes }) => heapCommittedBytes);
  const limit = sum(({ heapLimitBytes }) => heapLimitBytes);
  const outside = Math.max(0, process.memoryUsage.rss() - committed);
  const [heap, nonheap] = [{ area: 'heap' }, { area: 'nonheap' }];
  for (const name of ['jvm_memory_used_bytes', 'jvm_memory_bytes_used']) {
    const help = 'Node.js: used heap of all threads; nonheap: resident memory of the process beyond their heaps';
    page.gauge(name, help, heap, used);
    page.gauge(name, help, nonheap, outside);
  }
  for (const name of ['jvm_memory_committed_bytes', 'jvm_memory_bytes_committed']) {
    page.gauge(name, 'Node.js: size of the heaps of all threads', heap, committed);
  }
  for (const name of ['jvm_memory_max_bytes', 'jvm_memory_bytes_max']) {
    page.gauge(name, 'Node.js: limits of the heaps of all threads', heap, limit);
  }
  page.gauge(
    'jvm_threads_current',
    'Node.js: threads that run JavaScript, the main thread included',
    {},
    threads.length,
  );
  const collected = 'Node.js: collections of garbage in all threads, and the seconds that they took, by kind';
  const family = 'jvm_gc_collection_seconds';
  page.declare(family, 'summary', collected);
  for (const gc of ['minor', 'major', 'incremental', 'weakcb']) {
    const { count = 0, seconds = 0 } = counts.collections[gc] ?? {};
    page.part(family, 'summary', collected, { name: `${family}_count`, labels: { gc }, value: count });
    page.part(family, 'summary', collected, { name: `${family}_sum`, labels: { gc }, value: seconds });
  }
}
