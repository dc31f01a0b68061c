import type { Work } from './group-bytes.ts';
import { taskKey, taskOf } from './task-key.ts';

/** Connectors and tasks as two sets, which allows set operations. A task is represented by its `taskKey`. */
export class WorkSet {
  readonly connectors: Set<string>;
  readonly tasks: Set<string>;

  constructor(connectors: Iterable<string> = [], tasks: Iterable<string> = []) {
    this.connectors = new Set(connectors);
    this.tasks = new Set(tasks);
  }

  static of(work: Work): WorkSet {
    return new WorkSet(work.connectors, work.tasks.map(taskKey));
  }

  static union(sets: Iterable<WorkSet>): WorkSet {
    const all = new WorkSet();
    for (const set of sets) all.add(set);
    return all;
  }

  get isEmpty(): boolean {
    return this.connectors.size === 0 && this.tasks.size === 0;
  }

  add(other: WorkSet): void {
    for (const connector of other.connectors) this.connectors.add(connector);
    for (const task of other.tasks) this.tasks.add(task);
  }

  remove(other: WorkSet): void {
    for (const connector of other.connectors) this.connectors.delete(connector);
    for (const task of other.tasks) this.tasks.delete(task);
  }

  without(...others: readonly WorkSet[]): WorkSet {
    const rest = new WorkSet(this.connectors, this.tasks);
    for (const other of others) rest.remove(other);
    return rest;
  }

  /** Returns the intersection of both sets. */
  shared(other: WorkSet): WorkSet {
    return new WorkSet(
      [...this.connectors].filter((connector) => other.connectors.has(connector)),
      [...this.tasks].filter((task) => other.tasks.has(task)),
    );
  }

  toWork(): Work {
    return { connectors: [...this.connectors], tasks: [...this.tasks].map(taskOf) };
  }
}
