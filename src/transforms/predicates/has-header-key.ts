import { declareOptions } from '../../config/option.ts';
import { parseOptions } from '../../config/parse.ts';
import { nonEmptyString } from '../../config/validators.ts';
import { CONNECT_VERSION } from '../../version.ts';
import type { PredicatePlugin } from '../../connect/api.ts';
import { READS, type PlannablePredicate } from '../../connect/pipeline/struct-plan.ts';

const options = declareOptions({
  name: {
    type: 'STRING',
    importance: 'MEDIUM',
    documentation: 'Name of the header.',
    validator: nonEmptyString,
  },
});

/** True for records that have a header with this name. */
export const hasHeaderKey: PredicatePlugin = {
  type: 'predicate',
  className: 'org.apache.kafka.connect.transforms.predicates.HasHeaderKey',
  version: CONNECT_VERSION,
  options,
  create(config): PlannablePredicate {
    const { name } = parseOptions(options, config, { errors: 'first' });
    return {
      test: (record) => record.headers.some(({ key }) => key === name),
      [READS]: 'headers',
    };
  },
};
