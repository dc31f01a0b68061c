import type { ConnectRecord } from '../../data/record.ts';
import type { Predicate, Transformation } from '../api.ts';

export interface TransformationStep {
  /** Class name, for error contexts. */
  readonly className: string;
  readonly transformation: Transformation;
  readonly condition?: { readonly predicate: Predicate; readonly negate: boolean };
}

/** A connector's transforms in order. An empty chain costs nothing: check `empty` before calling `apply`. */
export class TransformationChain {
  readonly #steps: readonly TransformationStep[];

  constructor(steps: readonly TransformationStep[]) {
    this.#steps = steps;
  }

  get empty(): boolean {
    return this.#steps.length === 0;
  }

  /** Class name of the step that ran last, so that an error can be put at its door. */
  lastClassName = '';

  apply<R extends ConnectRecord>(record: R): R | null {
    let current: R | null = record;
    for (const step of this.#steps) {
      this.lastClassName = step.className;
      if (step.condition !== undefined && step.condition.predicate.test(current) === step.condition.negate) continue;
      current = step.transformation.apply(current);
      if (current === null) return null;
    }
    return current;
  }

  close(): void {
    for (const step of this.#steps) {
      step.transformation.close?.();
      step.condition?.predicate.close?.();
    }
  }
}
