import { javaRegexMatcher, toError, type Validator } from '../../src/index.ts';

/** Validators of options. Their error messages are those of Debezium. */

function invalid(name: string, problem: string): { readonly message: string } {
  return { message: `The '${name}' value is invalid: ${problem}` };
}

export function required(): Validator {
  return {
    text: 'not empty',
    check: (name, value) => (value === null || value === '' ? invalid(name, 'A value is required') : undefined),
  };
}

export function choice(...choices: readonly string[]): Validator {
  return {
    text: `one of ${choices.join(', ')}`,
    choices,
    check: (name, value) => {
      const isKnown = typeof value === 'string' && choices.includes(value.toLowerCase());
      return isKnown ? undefined : invalid(name, `Value must be one of ${choices.join(', ')}`);
    },
  };
}

export function exactly(...choices: readonly string[]): Validator {
  return {
    text: `one of ${choices.join(', ')}`,
    choices,
    check: (name, value) =>
      typeof value === 'string' && choices.includes(value)
        ? undefined
        : invalid(name, `Value must be one of ${choices.join(', ')}`),
  };
}

export const TOPIC_PREFIX: Validator = {
  text: 'letters, digits, underscores, hyphens and dots',
  check: (name, value) => {
    if (value === null || value === '') return invalid(name, 'A value is required');
    const text = typeof value === 'string' ? value : '';
    if (/^[\w.-]+$/.test(text)) return undefined;
    return invalid(
      name,
      `${text} has invalid format (only the underscore, hyphen, dot and alphanumeric characters are allowed)`,
    );
  },
};

export const SLOT_NAME: Validator = {
  text: 'at most 63 digits, lower-case letters and underscores',
  check: (name, value) => {
    if (typeof value === 'string' && /^[a-z0-9_]{1,63}$/.test(value)) return undefined;
    return invalid(
      name,
      'Valid replication slot name must contain only digits, lowercase characters and underscores with length <= 63',
    );
  },
};

export const REGEX_LIST: Validator = {
  text: 'a list of regular expressions',
  check: (name, value) => {
    for (const pattern of (value as readonly string[] | null) ?? []) {
      try {
        javaRegexMatcher(pattern);
      } catch (error) {
        const problem = toError(error).message;
        return invalid(name, `A comma-separated list of valid regular expressions is expected, but ${problem}`);
      }
    }
    return undefined;
  },
};

/** The pattern as Debezium's error message prints it. */
const KEY_COLUMNS_TEXT = '^\\s*([^:]+):([^:,]+(,[^:,]+)*)\\s*$';
const KEY_COLUMNS = /^[^:]+:[^:,]+(?:,[^:,]+)*$/;

export const MESSAGE_KEYS: Validator = {
  text: 'tables with columns, such as `public.orders:id,line;(.*).users:name`',
  check: (name, value) => {
    const parts = typeof value === 'string' ? value.split(';') : [];
    const wrong = parts.find((part) => part.trim() !== '' && !KEY_COLUMNS.test(part.trim()));
    return wrong === undefined
      ? undefined
      : invalid(name, `${wrong} has an invalid format (expecting '${KEY_COLUMNS_TEXT}')`);
  },
};

export const AT_LEAST_ZERO: Validator = {
  text: 'at least 0',
  check: (name, value) => (Number(value) < 0 ? invalid(name, 'An non-negative integer is expected') : undefined),
};

export const AT_LEAST_ONE: Validator = {
  text: 'at least 1',
  check: (name, value) =>
    Number(value) < 1 ? invalid(name, 'A positive, non-zero integer value is expected') : undefined,
};
