import type { Rejoin } from './rejoin.ts';
import type { ConfiguredWork } from './worker-protocol.ts';

/** The config store as the worker group sees it. */
export interface CountedWork extends ConfiguredWork {
  /** `undefined`: there is no such connector. */
  taskCount(connector: string): number | undefined;
}

/** The connectors that the division of work knows, each with the number of its tasks. */
export class KnownConnectors {
  readonly #configured: CountedWork;
  readonly #counts = new Map<string, number>();

  constructor(configured: CountedWork) {
    this.#configured = configured;
  }

  /** All that there are at the start; the first division is made of them. */
  readAll(): void {
    for (const name of this.#configured.work().connectors) {
      this.#counts.set(name, this.#configured.taskCount(name) ?? 0);
    }
  }

  /** Why the work must be divided again; `undefined` when the connector is as it was. */
  changed(connector: string): Rejoin | undefined {
    const count = this.#configured.taskCount(connector);
    const before = this.#counts.get(connector);
    if (count === before) return undefined;
    if (count === undefined) this.#counts.delete(connector);
    else this.#counts.set(connector, count);
    const happened =
      count === undefined
        ? 'was deleted'
        : before === undefined
          ? 'was created'
          : `has ${String(count)} ${count === 1 ? 'task' : 'tasks'}`;
    return { reason: `connector ${connector} ${happened}`, configOffset: this.#configured.offset };
  }
}
