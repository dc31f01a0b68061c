import type { TaskId } from '../connect/task-assignment.ts';
import type { Logger } from '../observe/logger.ts';
import { SerialQueue } from '../async/serial-queue.ts';
import type { State, Status, StatusStore } from './stores/status-store.ts';

export interface StatusSource {
  readonly workerId: string;
  generation(): number;
  /** False while others may have this worker's work, and may have written of it. */
  mayWork(): boolean;
  version(connector: string): string | null;
  /** Takes secrets out of a trace. */
  hide(trace: string): string;
}

/**
 * Writes this worker's view of what runs, in the order in which it came about. A write that fails is logged: the status is
 * then stale until the next one, the work itself goes on.
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

  /** Resolves when everything written so far is out. */
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
   * What ends here must not hide what others have written since. Whoever was given up has yet to read that: a worker that
   * was suspended for long would write UNASSIGNED over their RUNNING.
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
      this.#logger.error({ err: error, connector }, `A status of connector ${connector} could not be written`);
    });
  }
}
