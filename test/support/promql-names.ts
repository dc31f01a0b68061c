/** Labels that Prometheus, or the rules with which it discovers workers, adds to the metrics. */
const OF_THE_SCRAPE: ReadonlySet<string> = new Set([
  ...['namespace', 'strimzi_io_kind', 'strimzi_io_cluster', 'kubernetes_pod_name', 'pod', 'container'],
  ...['job', 'env', 'instance', 'kafka_connect_cluster_id'],
]);
const FUNCTIONS: ReadonlySet<string> = new Set(['label_values', 'query_result']);

/** Returns the expressions of a Grafana dashboard, from its panels and variables. */
export function expressionsOf(dashboard: unknown): string[] {
  if (Array.isArray(dashboard)) return dashboard.flatMap(expressionsOf);
  if (typeof dashboard !== 'object' || dashboard === null) return [];
  return Object.entries(dashboard).flatMap(([key, value]: [string, unknown]) =>
    typeof value === 'string' && ['expr', 'definition', 'query'].includes(key) ? [value] : expressionsOf(value),
  );
}

/** Returns each metric in the expressions, with the labels by which it is selected, as lines of `ASKED`. */
export function metricsOf(expressions: readonly string[]): string[] {
  const asked = new Map<string, Set<string>>();
  for (const expression of expressions) {
    const bare = expression
      .replaceAll(/"[^"]*"/g, '""')
      .replaceAll(/\b(?:by|on|without|group_left|group_right)\s*\([^)]*\)/g, '');
    for (const [, name = '', selector = ''] of bare.matchAll(/\b([a-z]\w*_\w*)\b\s*(?:\{([^}]*)\})?/g)) {
      if (OF_THE_SCRAPE.has(name) || FUNCTIONS.has(name)) continue;
      const labels = asked.get(name) ?? new Set();
      asked.set(name, labels);
      for (const [, label = ''] of selector.matchAll(/(\w+)\s*[=!]/g)) if (!OF_THE_SCRAPE.has(label)) labels.add(label);
    }
  }
  return [...asked].map(([name, labels]) => [name, ...[...labels].sort()].join(' ')).sort();
}

/** Returns the metric names of a page, each with the labels of its samples. */
function namesOf(page: string): ReadonlyMap<string, ReadonlySet<string>> {
  const names = new Map<string, Set<string>>();
  for (const [, name = '', pairs = ''] of page.matchAll(/^([a-z]\w*)(?:\{(.*)\})? \S+$/gm)) {
    const labels = names.get(name) ?? new Set();
    names.set(name, labels);
    for (const [, label = ''] of pairs.matchAll(/(?:^|,)(\w+)="(?:[^"\\]|\\.)*"/g)) labels.add(label);
  }
  return names;
}

/** Returns the lines of `asked` (see `metricsOf`) that a page does not contain with all their labels. */
export function missingFrom(page: string, asked: readonly string[]): string[] {
  const names = namesOf(page);
  return asked.filter((line) => {
    const [name = '', ...labels] = line.split(' ');
    const there = names.get(name);
    return there === undefined || labels.some((label) => !there.has(label));
  });
}
