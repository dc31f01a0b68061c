import { slowest, type ThreadMeasurement, type ThreadName } from '../../observe/thread-figures.ts';
import type { MetricsPage } from '../../observe/metrics/metrics-page.ts';

/** The usage of each thread, and the counts of all threads together. `places`: the thread of each task. */
export function addThreads(
  page: MetricsPage,
  { threads, counts, ends }: ThreadMeasurement,
  places: ReadonlyMap<string, ThreadName>,
): void {
  for (const [of, count] of Object.entries(counts.unhandled)) {
    page.counter(
      'sluice_unhandled_errors_total',
      'Unhandled errors, by whether the task or connector that caused them is known',
      { of },
      Number(count),
    );
  }
  page.gauge(
    'sluice_event_loop_delay_seconds',
    'Duration of the longest turn of an event loop in the last minute, over all threads',
    {},
    slowest(threads).loopDelaySeconds,
  );
  const tasks = [...places.values()];
  for (const { thread, purpose, loopDelaySeconds, figures } of threads) {
    const labels = { thread: String(thread), purpose };
    if (figures?.cpuSeconds !== undefined) {
      page.counter('sluice_thread_cpu_seconds_total', 'CPU time of the thread', labels, figures.cpuSeconds);
    }
    if (figures !== undefined) {
      page.gauge('sluice_thread_heap_bytes', 'Used heap of the thread', labels, figures.heapBytes);
    }
    page.gauge(
      'sluice_thread_event_loop_delay_seconds',
      'Duration of the longest turn of the event loop of the thread in the last minute',
      labels,
      loopDelaySeconds,
    );
    const count = tasks.filter((place) => place === thread).length;
    page.gauge('sluice_thread_tasks', 'Tasks in the thread', labels, count);
  }
  for (const [reason, count] of Object.entries(ends)) {
    page.counter('sluice_thread_ends_total', 'Threads that have ended, by reason', { reason }, count);
  }
  for (const { name, help, labels, value } of counts.services) page.counter(name, help, labels, value);
  for (const { name, help, labels, value } of threads.flatMap(({ figures }) => figures?.serviceGauges ?? [])) {
    page.gauge(name, help, labels, value);
  }
  const collapsed =
    'Rows that were merged with a later row of their batch, because both have the same key or fall into one microsecond';
  page.declare('sluice_rows_collapsed_total', 'counter', collapsed);
  for (const { writer, rows } of counts.collapsed) {
    page.counter('sluice_rows_collapsed_total', collapsed, writer, rows);
  }
}
