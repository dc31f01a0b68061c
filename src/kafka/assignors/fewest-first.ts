import { compare } from './assignor.ts';

/**
 * Members sorted by partition count, then by id. Before the count of a member changes, the member must be removed; afterwards
 * it is added again.
 */
export class FewestFirst {
  readonly #count: (member: string) => number;
  readonly #members: string[] = [];

  constructor(count: (member: string) => number) {
    this.#count = count;
  }

  get inOrder(): readonly string[] {
    return this.#members;
  }

  add(member: string): void {
    const index = this.#indexOf(member);
    if (this.#members[index] !== member) this.#members.splice(index, 0, member);
  }

  remove(member: string): void {
    const index = this.#indexOf(member);
    if (this.#members[index] === member) this.#members.splice(index, 1);
  }

  #indexOf(member: string): number {
    const count = this.#count(member);
    let from = 0;
    let to = this.#members.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      const other = this.#members[middle] ?? '';
      if ((this.#count(other) - count || compare(other, member)) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
