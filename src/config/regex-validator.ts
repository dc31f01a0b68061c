import { JavaPattern } from '../data/java-regex.ts';
import { toError } from '../errors.ts';
import type { Validator } from './option.ts';

/** A Java regular expression that compiles (`topics.regex`, RegexRouter, TopicNameMatches). */
export const validRegex: Validator = {
  text: 'valid regex',
  check(_name, value) {
    if (typeof value !== 'string') return 'Invalid regex: there is none';
    try {
      JavaPattern.compile(value);
      return undefined;
    } catch (error) {
      return `Invalid regex: ${toError(error).message}`;
    }
  },
};
