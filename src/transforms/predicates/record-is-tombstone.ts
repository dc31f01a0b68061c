import { CONNECT_VERSION } from '../../version.ts';
import type { PredicatePlugin } from '../../connect/api.ts';
import { READS, type PlannablePredicate } from '../../connect/pipeline/struct-plan.ts';

/** True for records without a value. */
export const recordIsTombstone: PredicatePlugin = {
  type: 'predicate',
  className: 'org.apache.kafka.connect.transforms.predicates.RecordIsTombstone',
  version: CONNECT_VERSION,
  options: {},
  create: (): PlannablePredicate => ({
    test: (record) => record.value === null,
    [READS]: 'value',
  }),
};
