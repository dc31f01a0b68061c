import { declareOptions } from '../../config/option.ts';
import { parseOptions } from '../../config/parse.ts';
import { validRegex, composite, nonEmptyString } from '../../config/validators.ts';
import { JavaPattern } from '../../java/java-regex.ts';
import { CONNECT_VERSION } from '../../version.ts';
import type { PredicatePlugin } from '../../connect/api.ts';
import { READS, type PlannablePredicate } from '../../connect/pipeline/struct-plan.ts';

const options = declareOptions({
  pattern: {
    type: 'STRING',
    importance: 'MEDIUM',
    documentation: 'Regular expression (Java) that the whole name of the topic must match.',
    validator: composite(nonEmptyString, validRegex),
  },
});

/** True for records whose topic matches a regular expression. */
export const topicNameMatches: PredicatePlugin = {
  type: 'predicate',
  className: 'org.apache.kafka.connect.transforms.predicates.TopicNameMatches',
  version: CONNECT_VERSION,
  options,
  create(config): PlannablePredicate {
    const pattern = JavaPattern.compile(parseOptions(options, config, { errors: 'first' }).pattern);
    // The last result is cached because consecutive records mostly have the same topic.
    let lastTopic: string | undefined;
    let lastResult = false;
    return {
      test({ topic }) {
        if (topic === lastTopic) return lastResult;
        // A source record of a third-party plugin may have no topic.
        lastResult = (topic as string | null) !== null && pattern.matches(topic);
        lastTopic = topic;
        return lastResult;
      },
      [READS]: 'topic',
    };
  },
};
