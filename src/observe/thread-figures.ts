import { getHeapStatistics } from 'node:v8';
import { eventLoopWatch } from './event-loop-watch.ts';
import { collections, sumCollections, type Collections } from './garbage-collections.ts';
import { clientSets } from './metrics/open-clients.ts';
import type { MetricSet } from './metrics/metric-set.ts';
import { collapsedRows, sumCollapsed, type CollapsedRows } from './row-counts.ts';
import { serviceCounts, serviceGauges, sumServiceCounts, type ServiceFigure } from './service-figures.ts';
import { threadCpu } from './thread-cpu.ts';
import { unhandledErrors } from './unhandled-errors.ts';

/** Numbers of unhandled errors in a thread; see `unhandledErrors`. */
export interface UnhandledCounts {
  readonly owned: number;
  readonly unknown: number;
}

/** The counts of a thread since its start. */
export interface ThreadCounts {
  readonly unhandled: UnhandledCounts;
  readonly collapsed: readonly CollapsedRows[];
  /** Garbage collections by kind. */
  readonly collections: Collections;
  /** Counts of the services that run in the thread. */
  readonly services: readonly ServiceFigure[];
}

/** Measurements of a thread since its start, as plain data. */
export interface ThreadFigures extends ThreadCounts {
  /** CPU time of the thread; `undefined` if the system does not report it for threads. */
  readonly cpuSeconds: number | undefined;
  readonly heapBytes: number;
  readonly heapLimitBytes: number;
  readonly heapCommittedBytes: number;
  /** Metrics of its open Kafka clients. */
  readonly clients: readonly MetricSet[];
  /** Current gauges of the services that run in the thread. */
  readonly serviceGauges: readonly ServiceFigure[];
}

/** The figures of the calling thread. */
export function ownFigures(): ThreadFigures {
  const heap = getHeapStatistics();
  return {
    cpuSeconds: threadCpu.of === 'thread' ? threadCpu.ms() / 1000 : undefined,
    heapBytes: heap.used_heap_size,
    heapLimitBytes: heap.heap_size_limit,
    heapCommittedBytes: heap.total_heap_size,
    clients: clientSets(),
    unhandled: { ...unhandledErrors },
    collapsed: collapsedRows(),
    collections: collections(),
    services: serviceCounts(),
    serviceGauges: serviceGauges(),
  };
}

/** `main`, or the number of another thread, counted from 1. */
export type ThreadName = number | 'main';

/** A thread of the worker, as operators see it. */
export interface ThreadView {
  readonly thread: ThreadName;
  /** `main`; `tasks`, or `task` if the thread runs a single task; `services`; `reading` for a thread that reads messages. */
  readonly purpose: string;
  /** The longest turn of its event loop in the last minute, including the current one. */
  readonly loopDelaySeconds: number;
}

/** `figures`: the last known ones if the thread does not answer; `undefined` if it has never answered. */
export interface MeasuredThread extends ThreadView {
  readonly figures: ThreadFigures | undefined;
}

export interface ThreadMeasurement {
  /** The main thread is the first. */
  readonly threads: readonly MeasuredThread[];
  /** The sums of all threads, including ended ones. */
  readonly counts: ThreadCounts;
  /** Number of threads that have ended, by reason. */
  readonly ends: Readonly<Record<string, number>>;
}

/** The threads of a worker. */
export interface WorkerThreads {
  /** The main thread is the first. */
  views(): readonly ThreadView[];
  /** Requests the figures of all threads. Waits only briefly for threads that do not answer. */
  measure(): Promise<ThreadMeasurement>;
}

export function addCounts(counts: readonly ThreadCounts[]): ThreadCounts {
  const sum = (count: (of: UnhandledCounts) => number): number =>
    counts.reduce((total, { unhandled }) => total + count(unhandled), 0);
  return {
    unhandled: { owned: sum(({ owned }) => owned), unknown: sum(({ unknown }) => unknown) },
    collapsed: sumCollapsed(counts.map((each) => each.collapsed)),
    collections: sumCollections(counts.map((each) => each.collections)),
    services: sumServiceCounts(counts.map(({ services }) => services)),
  };
}

export function mainThreadView(): ThreadView {
  return { thread: 'main', purpose: 'main', loopDelaySeconds: eventLoopWatch.longestSeconds() };
}

/** The thread whose event loop was blocked longest; the first one if there are several. */
export function slowest(views: readonly ThreadView[]): ThreadView {
  return views.reduce((longest, view) => (view.loopDelaySeconds > longest.loopDelaySeconds ? view : longest));
}
