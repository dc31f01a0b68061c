import type { Schema } from '../../data/schema.ts';
import { StructPlan, type StructProgram } from './struct-plan.ts';
import type { TransformationChain } from './transformation-chain.ts';

/** Maximum number of cached plans. When it is reached, the cache is cleared before the next plan is added. */
const MAX_REMEMBERED = 256;

/**
 * Caches the plans (see StructPlan) of a chain of transforms. There is one plan for each schema and topic, and another one for
 * records with headers.
 */
export class ChainPlans {
  readonly #chain: TransformationChain;
  readonly #known = new Map<Schema, Map<string, StructProgram | undefined>>();
  #count = 0;

  constructor(chain: TransformationChain) {
    this.#chain = chain;
  }

  /** Returns the plan, or `undefined` if the records of this schema must be transformed one by one. */
  of(schema: Schema, topic: string, hasHeaders: boolean): StructProgram | undefined {
    const kind = hasHeaders ? `${topic} with headers` : topic;
    let byKind = this.#known.get(schema);
    if (byKind?.has(kind) !== true) {
      if (this.#count >= MAX_REMEMBERED) {
        this.#known.clear();
        this.#count = 0;
        byKind = undefined;
      }
      if (byKind === undefined) this.#known.set(schema, (byKind = new Map<string, StructProgram | undefined>()));
      byKind.set(kind, this.#chain.plan(new StructPlan(topic, schema, hasHeaders)));
      this.#count++;
    }
    return byKind?.get(kind);
  }
}
