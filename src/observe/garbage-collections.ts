import { constants, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks';

/** Numbers of garbage collections and how long they paused the thread, by kind. */
export type Collections = Readonly<Record<string, { readonly count: number; readonly seconds: number }>>;

const KINDS: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
};

let counted: Collections = {};
let observer: PerformanceObserver | undefined;

/** The collections of this thread since the first call. */
export function collections(): Collections {
  if (observer === undefined) {
    observer = new PerformanceObserver((list) => {
      counted = sumCollections([counted, ...list.getEntries().map(collectionOf)]);
    });
    observer.observe({ entryTypes: ['gc'] });
  }
  return counted;
}

/** Sums up the collections of several threads. */
export function sumCollections(all: readonly Collections[]): Collections {
  const sum: Record<string, { count: number; seconds: number }> = {};
  for (const each of all) {
    for (const [kind, { count, seconds }] of Object.entries(each)) {
      const before = sum[kind];
      sum[kind] = { count: (before?.count ?? 0) + count, seconds: (before?.seconds ?? 0) + seconds };
    }
  }
  return sum;
}

function collectionOf(entry: PerformanceEntry): Collections {
  // Node's type declarations lack `detail`.
  const { duration, detail } = entry as PerformanceEntry & { readonly detail?: { readonly kind?: number } };
  const kind = detail?.kind ?? -1;
  return { [KINDS[kind] ?? 'other']: { count: 1, seconds: duration / 1000 } };
}
