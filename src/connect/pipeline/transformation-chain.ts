import type { ConnectRecord } from '../../data/record.ts';
import type { Predicate, Transformation } from '../api.ts';
import { StageTimes } from './stage-times.ts';
import {
  HOLDS,
  PLAN,
  type PlannablePredicate,
  type PlannableTransformation,
  type StructPlan,
  type StructProgram,
} from './struct-plan.ts';

export interface TransformationStep {
  /** As the configuration names it. */
  readonly alias?: string;
  /** Class name, for error contexts. */
  readonly className: string;
  readonly transformation: Transformation & PlannableTransformation;
  readonly condition?: { readonly predicate: Predicate & PlannablePredicate; readonly negate: boolean };
}

/** A connector's transforms in order. An empty chain costs nothing: check `empty` before calling `apply`. */
export class TransformationChain {
  readonly #steps: readonly TransformationStep[];
  /** Of these transforms, and of the converter before or behind them. */
  readonly times: StageTimes;

  constructor(steps: readonly TransformationStep[]) {
    this.#steps = steps;
    this.times = new StageTimes(steps);
  }

  get empty(): boolean {
    return this.#steps.length === 0;
  }

  /** Whether there may be records for which `plan` gives a program. */
  get isPlannable(): boolean {
    return this.#steps.every(
      ({ transformation, condition }) =>
        transformation[PLAN] !== undefined && (condition === undefined || condition.predicate[HOLDS] !== undefined),
    );
  }

  #last: TransformationStep | undefined;

  /** Class name of the step that ran last, so that an error can be put at its door. */
  get lastClassName(): string {
    return this.#last?.className ?? '';
  }

  apply<R extends ConnectRecord>(record: R): R | null {
    let current: R | null = record;
    for (const step of this.#steps) {
      this.#last = step;
      if (step.condition !== undefined && step.condition.predicate.test(current) === step.condition.negate) continue;
      current = step.transformation.apply(current);
      if (current === null) return null;
    }
    return current;
  }

  /** As `apply`, with the time of each step. */
  applyMeasured<R extends ConnectRecord>(record: R): R | null {
    let current: R | null = record;
    let at = performance.now();
    for (const [index, step] of this.#steps.entries()) {
      this.#last = step;
      const applies = step.condition === undefined || step.condition.predicate.test(current) !== step.condition.negate;
      if (applies) current = step.transformation.apply(current);
      const now = performance.now();
      this.times.transformed(index, now - at, current !== null);
      at = now;
      if (current === null) return null;
    }
    return current;
  }

  /** A record has failed in the step that ran last. */
  noteFailure(): void {
    if (this.#last !== undefined) this.times.failed(this.#steps.indexOf(this.#last));
  }

  /** What `apply` does to records of this kind; `undefined` if each has to be looked at. */
  plan(plan: StructPlan): StructProgram | undefined {
    try {
      for (const { transformation, condition } of this.#steps) {
        const holds = condition === undefined || condition.predicate[HOLDS]?.(plan);
        if (holds === undefined) return undefined;
        if (holds !== condition?.negate && transformation[PLAN]?.(plan) !== true) return undefined;
        plan.endTransform();
      }
      return plan.finish();
    } catch {
      // What is wrong shows with each record.
      return undefined;
    }
  }

  close(): void {
    for (const step of this.#steps) {
      step.transformation.close?.();
      step.condition?.predicate.close?.();
    }
  }
}
