import type { FailureKind } from '../../connect/task-failure.ts';
import type { MetricsPage } from '../../observe/metrics/metrics-page.ts';
import type { RestartTarget } from '../../herder/herder-listener.ts';

/** Restarts that a worker has made, and those that are scheduled. */
export interface RestartFigures {
  readonly made: readonly RestartCount[];
  /** Number of waiting tasks and instances, by connector. */
  readonly waiting: ReadonlyMap<string, number>;
}

interface RestartCount {
  readonly connector: string;
  readonly of: 'task' | 'connector';
  readonly kind: FailureKind;
  count: number;
}

/** Restarts since the start of the worker. */
export class RestartCounts {
  readonly #counts = new Map<string, RestartCount[]>();

  add({ connector, task }: RestartTarget, kind: FailureKind): void {
    const of = task === undefined ? 'connector' : 'task';
    const counts = this.#counts.get(connector) ?? [];
    this.#counts.set(connector, counts);
    const known = counts.find((each) => each.of === of && each.kind === kind);
    if (known === undefined) counts.push({ connector, of, kind, count: 1 });
    else known.count++;
  }

  forget(connector: string): void {
    this.#counts.delete(connector);
  }

  all(): readonly RestartCount[] {
    return [...this.#counts.values()].flat();
  }
}

const MADE = {
  task: ['sluice_task_restarts_total', 'Restarts of failed tasks by restart.policy, by the kind of the failure'],
  connector: [
    'sluice_connector_restarts_total',
    'Restarts of failed connector instances by restart.policy, by the kind of the failure',
  ],
} as const;

/** Kinds that are restarted by default. Their counters start at 0, so that the first restart is an increase. */
const TRANSIENT: readonly FailureKind[] = ['infrastructure', 'hang', 'memory'];

/** `connectors`: the connectors that have tasks on this worker. */
export function addRestarts(
  page: MetricsPage,
  { made, waiting }: RestartFigures,
  connectors: ReadonlySet<string>,
): void {
  for (const [name, help] of Object.values(MADE)) page.declare(name, 'counter', help);
  const counted = new Set(made.map(({ of, connector, kind }) => `${of} ${kind} ${connector}`));
  const [tasksName, tasksHelp] = MADE.task;
  for (const connector of connectors) {
    const others = TRANSIENT.filter((kind) => !counted.has(`task ${kind} ${connector}`));
    for (const kind of others) page.counter(tasksName, tasksHelp, { connector, kind }, 0);
  }
  for (const { connector, of, kind, count } of made) {
    const [name, text] = MADE[of];
    page.counter(name, text, { connector, kind }, count);
  }
  const help = 'Failed tasks and connector instances that wait for their next restart';
  page.declare('sluice_restarts_waiting', 'gauge', help);
  for (const [connector, count] of waiting) page.gauge('sluice_restarts_waiting', help, { connector }, count);
}
