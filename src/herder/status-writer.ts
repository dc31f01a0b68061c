import type { TaskId } from '../connect/task-assignment.ts';
import type { Logger } from '../observe/logger.ts';
import { SerialQueue } from './serial-queue.ts';
import type { State, Status, StatusStore } from './stores/status-store.ts';

export interface StatusSource {
  workerId(): string;
  generation(): number;
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
    const safe = state === 'UNASSIGNED' || state === 'FAILED' || state === 'RESTARTING';
    this.#write(name, () => this.#store.putConnector(name, this.#status(name, state, trace), safe));
  }

  task(id: TaskId, state: State, trace: string | null = null): void {
    const safe = state === 'UNASSIGNED' || state === 'FAILED' || state === 'RESTARTING';
    this.#write(id.connector, () => this.#store.putTask(id, this.#status(id.connector, state, trace), safe));
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
      workerId: this.#source.workerId(),
      generation: this.#source.generation(),
      version: this.#source.version(connector),
    };
  }

  #write(connector: string, write: () => Promise<void>): void {
    this.#queue.run(write).catch((error: unknown) => {
      this.#logger.error({ err: error, connector }, `A status of connector ${connector} could not be written`);
    });
  }
}
