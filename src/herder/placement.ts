import type { TaskId } from '../connect/task-assignment.ts';

/**
 * Where things run: which of the cluster's connectors and tasks are this worker's. Told apart from what should run (the
 * config store) and from whether it runs (execution and status), so that several workers can share the work.
 */
export interface Placement {
  /** Grows with each new division of work; part of every status record (0 in standalone mode). */
  readonly generation: number;
  /** The leader alone writes connector and task configurations. */
  readonly isLeader: boolean;
  ownsConnector(name: string): boolean;
  ownsTask(id: TaskId): boolean;
}

/** A worker that is alone in its group: everything is its own. */
export class SoleWorker implements Placement {
  readonly generation: number;
  readonly isLeader = true;

  constructor(generation: number) {
    this.generation = generation;
  }

  ownsConnector(): boolean {
    return true;
  }

  ownsTask(): boolean {
    return true;
  }
}
