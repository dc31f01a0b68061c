/** One value of a service of the worker, as `/metrics` shows it. */
export interface ServiceFigure {
  /** A Prometheus name; that of a counter ends in `_total`. */
  readonly name: string;
  readonly help: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Maximum number of series in one thread; further series are not counted. */
const MAX_SERIES = 2_000;

const counts = new Map<string, ServiceFigure>();
const gauges = new Set<() => readonly ServiceFigure[]>();

/** Adds to a counter of this thread; `/metrics` shows the sum of all threads. A label must have few values. */
export function countService(figure: ServiceFigure): void {
  if (figure.value !== 0) add(counts, figure);
}

/**
 * Registers gauges. `read` is called for their current values whenever the figures of this thread are requested, until the
 * returned function is called.
 */
export function watchService(read: () => readonly ServiceFigure[]): () => void {
  gauges.add(read);
  return () => gauges.delete(read);
}

/** The counts of this thread since its start. */
export function serviceCounts(): readonly ServiceFigure[] {
  return [...counts.values()];
}

/** The current gauges of this thread. */
export function serviceGauges(): readonly ServiceFigure[] {
  return [...gauges].flatMap((read) => read());
}

/** Sums up the counts of several threads. */
export function sumServiceCounts(ofThreads: readonly (readonly ServiceFigure[])[]): readonly ServiceFigure[] {
  const sum = new Map<string, ServiceFigure>();
  for (const figure of ofThreads.flat()) add(sum, figure);
  return [...sum.values()];
}

function add(sum: Map<string, ServiceFigure>, figure: ServiceFigure): void {
  const key = `${figure.name} ${JSON.stringify(figure.labels)}`;
  const known = sum.get(key);
  if (known === undefined && sum.size >= MAX_SERIES) return;
  sum.set(key, { ...figure, value: (known?.value ?? 0) + figure.value });
}
