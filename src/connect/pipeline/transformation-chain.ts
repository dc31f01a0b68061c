import type { ConnectRecord } from '../../data/record.ts';
import type { Predicate, Transformation } from '../api.ts';
import { StageTimes } from './stage-times.ts';
import {
  PLAN,
  READS,
  type PlannablePredicate,
  type PlannableTransformation,
  type StructPlan,
  type StructProgram,
} from './struct-plan.ts';

export interface TransformationStep {
  /** The name of the transform in the configuration. */
  readonly alias?: string;
  /** Class name for error contexts. */
  readonly className: string;
  readonly transformation: Transformation & PlannableTransformation;
  readonly condition?: { readonly predicate: Predicate & PlannablePredicate; readonly negate: boolean };
}

/** A connector's transforms in order. To avoid any cost of an empty chain, check `empty` before calling `apply`. */
export class TransformationChain {
  readonly #steps: readonly TransformationStep[];
  /** Times of these transforms, and of the converter that runs before or after them. */
  readonly times: StageTimes;

  constructor(steps: readonly TransformationStep[]) {
    this.#steps = steps;
    this.times = new StageTimes(steps);
  }

  get empty(): boolean {
    return this.#steps.length === 0;
  }

  /** True if all transforms and predicates can be planned. `plan` may still return `undefined` for some schemas. */
  get isPlannable(): boolean {
    return this.#steps.every(
      ({ transformation, condition }) =>
        transformation[PLAN] !== undefined && (condition === undefined || condition.predicate[READS] !== undefined),
    );
  }

  #last: TransformationStep | undefined;

  /** Class name of the transform that ran last, for the context of an error. */
  get lastClassName(): string {
    return this.#last?.className ?? '';
  }

  /** Applies the transforms. If `isMeasured` is set, adds the time of each to `times`. */
  apply<R extends ConnectRecord>(record: R, isMeasured = false): R | null {
    let current: R | null = record;
    let at = isMeasured ? performance.now() : 0;
    let index = 0;
    for (const step of this.#steps) {
      const { transformation, condition } = step;
      this.#last = step;
      if (condition === undefined || condition.predicate.test(current) !== condition.negate) {
        current = transformation.apply(current);
      }
      if (isMeasured) {
        const now = performance.now();
        this.times.transformed(index++, now - at, current !== null);
        at = now;
      }
      if (current === null) return null;
    }
    return current;
  }

  /** Counts a record that failed in the transform that ran last. */
  noteFailure(): void {
    if (this.#last !== undefined) this.times.failed(this.#steps.indexOf(this.#last));
  }

  /** Returns a program with the same effect as `apply` for all records of the plan, or `undefined` if that is not possible. */
  plan(plan: StructPlan): StructProgram | undefined {
    try {
      for (const { transformation, condition } of this.#steps) {
        const holds = condition === undefined || plan.resultOf(condition.predicate);
        if (holds === undefined) return undefined;
        if (holds !== condition?.negate && transformation[PLAN]?.(plan) !== true) return undefined;
        plan.endTransform();
      }
      return plan.finish();
    } catch {
      // The error need not be reported here, because `apply` reports it for each record.
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
