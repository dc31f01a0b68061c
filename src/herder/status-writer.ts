import type { TaskId } from '../connect/task-assignment.ts';
import type { Logger } from '../observe/logger.ts';
import { SerialQueue } from '../async/serial-queue.ts';
import type { State, Status, StatusStore } from './stores/status-store.ts';

export interface StatusSource {
  readonly workerId: string;
  generation(): number;
  /** Returns false while other workers may run the work of this worker and may have written its statuses. */
  mayWork(): boolean;
  version(connector: string): string | null;
  /** Removes secrets from a stack trace. */
  hide(trace: string): string;
}

/**
 * Writes the statuses of this worker's connectors and tasks in order. If a write fails, this is logged. The status is then
 * stale until the next write, but the work itself continues.
 */
export class StatusWriter {
  readonly #store: StatusStore;
  readonly #source: StatusSource;
  readonly #logger: Logger;
  readonly #queue = new SerialQueue();

  constructor(store: StatusStore, source: StatusSource, logger: Logger) {
    this.#store = store;
    this.#source = source;
    this.#logger = logger;
  }

  connector(name: string, state: State, trace: string | null = null): void {
    const status = this.#status(name, state, trace);
    this.#write(
      name,
      this.#guarded(state, (safe) => this.#store.putConnector(name, status, safe)),
    );
  }

  task(id: TaskId, state: State, trace: string | null = null): void {
    const status = this.#status(id.connector, state, trace);
    this.#write(
      id.connector,
      this.#guarded(state, (safe) => this.#store.putTask(id, status, safe)),
    );
  }

  removeTask(id: TaskId): void {
    this.#write(id.connector, () => this.#store.removeTask(id));
  }

  removeConnector(name: string): void {
    this.#write(name, () => this.#store.removeConnector(name));
  }

  /** Resolves when all pending writes have completed. */
  async flush(): Promise<void> {
    await this.#queue.idle();
  }

  #status(connector: string, state: State, trace: string | null): Status {
    return {
      state,
      trace: trace === null ? null : this.#source.hide(trace),
      workerId: this.#source.workerId,
      generation: this.#source.generation(),
      version: this.#source.version(connector),
    };
  }

  /**
   * The last status of work that ends here must not overwrite newer statuses of other workers. A worker that lost its
   * membership must therefore read these first. Otherwise, after a long suspension, it would replace their RUNNING with
   * UNASSIGNED.
   */
  #guarded(state: State, put: (safe: boolean) => Promise<void>): () => Promise<void> {
    const safe = state === 'UNASSIGNED' || state === 'FAILED' || state === 'RESTARTING';
    if (!safe || this.#source.mayWork()) return () => put(safe);
    return async () => {
      await this.#store.refresh();
      await put(safe);
    };
  }

  #write(connector: string, write: () => Promise<void>): void {
    this.#queue.run(write).catch((error: unknown) => {
      this.#logger.error({ err: error, connector }, `Failed to write a status of connector ${connector}`);
    });
  }
}
