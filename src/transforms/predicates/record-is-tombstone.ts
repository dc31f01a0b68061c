import { CONNECT_VERSION } from '../../version.ts';
import type { PredicatePlugin } from '../../connect/api.ts';

/** Holds for records without a value. */
export const recordIsTombstone: PredicatePlugin = {
  type: 'predicate',
  className: 'org.apache.kafka.connect.transforms.predicates.RecordIsTombstone',
  version: CONNECT_VERSION,
  options: {},
  create: () => ({ test: (record) => record.value === null }),
};
