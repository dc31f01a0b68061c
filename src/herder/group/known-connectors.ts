import type { Rejoin } from './rejoin.ts';
import type { ConfiguredWork } from './worker-protocol.ts';

/** The config store from the point of view of the worker group. */
export interface CountedWork extends ConfiguredWork {
  /** `undefined` if the connector does not exist. */
  taskCount(connector: string): number | undefined;
}

/** The connectors and their numbers of tasks, as this worker last saw them in the config topic. */
export class KnownConnectors {
  readonly #configured: CountedWork;
  readonly #counts = new Map<string, number>();

  constructor(configured: CountedWork) {
    this.#configured = configured;
  }

  /** Reads the connectors that exist when the worker starts, on which the first assignment is based. */
  readAll(): void {
    for (const name of this.#configured.work().connectors) {
      this.#counts.set(name, this.#configured.taskCount(name) ?? 0);
    }
  }

  /** Returns the reason for a rebalance, or `undefined` if neither the connector nor its number of tasks has changed. */
  changed(connector: string): Rejoin | undefined {
    const count = this.#configured.taskCount(connector);
    const before = this.#counts.get(connector);
    if (count === before) return undefined;
    if (count === undefined) this.#counts.delete(connector);
    else this.#counts.set(connector, count);
    const event =
      count === undefined
        ? 'was deleted'
        : before === undefined
          ? 'was created'
          : `has ${String(count)} ${count === 1 ? 'task' : 'tasks'}`;
    return { reason: `connector ${connector} ${event}`, configOffset: this.#configured.offset };
  }
}
