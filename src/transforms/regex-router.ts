import { BoundedMap } from '../data/bounded-map.ts';
import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { PLAN } from '../connect/pipeline/struct-plan.ts';
import { validRegex } from '../config/validators.ts';
import { JavaPattern, ReplacementError } from '../java/java-regex.ts';
import { recordError, requireTopic } from './requirements.ts';
import { recordTransformation } from './plugin-declaration.ts';

/** Limit of the cache of new names. A connector has few topics, so the limit is hardly ever reached. */
const MAX_CACHED_TOPICS = 1000;

const options = declareOptions({
  regex: {
    type: 'STRING',
    importance: 'HIGH',
    documentation: 'Regular expression (Java) that the whole name of a topic must match.',
    validator: validRegex,
  },
  replacement: {
    type: 'STRING',
    importance: 'HIGH',
    documentation: 'The new name; `$1` and `${name}` refer to groups of the expression.',
  },
});

const NO_TOPIC = 'Cannot invoke "java.lang.CharSequence.length()" because "this.text" is null';

/** Renames topics that match a regular expression. */
export const regexRouter = recordTransformation('RegexRouter', options, (config) => {
  const { regex, replacement } = parseOptions(options, config, { errors: 'first' });
  const pattern = JavaPattern.compile(regex);
  const known = new BoundedMap<string, string>(MAX_CACHED_TOPICS);
  const routed = (given: string): string => {
    const topic = requireTopic(given, NO_TOPIC);
    return known.getOrCreate(topic, () => (pattern.matches(topic) ? replaced(pattern, topic, replacement) : topic));
  };
  return {
    apply(record) {
      const topic = routed(record.topic);
      return topic === record.topic ? record : { ...record, topic };
    },
    [PLAN](plan) {
      if (plan.topic === undefined) return false;
      plan.topic = routed(plan.topic);
      return true;
    },
  };
});

/** An invalid replacement is reported when it is applied, as in Connect. */
function replaced(pattern: JavaPattern, topic: string, replacement: string): string {
  try {
    return pattern.replaceFirst(topic, replacement);
  } catch (error) {
    if (error instanceof ReplacementError) throw recordError(error.javaName, error.message);
    throw error;
  }
}
