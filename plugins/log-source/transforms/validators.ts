import type { Validator } from '../../../src/index.ts';

/** Validators of options. Their error messages are those of Debezium. */

export function listOfNames({ spacesAllowed }: { readonly spacesAllowed: boolean }): Validator {
  return {
    text: 'list of names, none of them empty',
    check(name, value) {
      const names = Array.isArray(value) ? (value as readonly string[]) : [];
      if (names.length === 0) return `The '${name}' value is invalid: A value is required`;
      if (names.includes('')) return `The '${name}' value is invalid: Empty string element(s) not permitted`;
      if (spacesAllowed || !names.some((each) => each.includes(' '))) return undefined;
      return `The '${name}' value is invalid: Element(s) containing space not permitted`;
    },
  };
}

export const positive: Validator = {
  text: 'a positive integer',
  check: (name, value) =>
    Number(value) > 0 ? undefined : `The '${name}' value is invalid: A positive, non-zero integer value is expected`,
};

export function choiceOf(...choices: readonly string[]): Validator {
  return {
    text: `one of ${choices.join(', ')}`,
    choices,
    check: (name, value) =>
      choices.includes(String(value))
        ? undefined
        : `The '${name}' value is invalid: Value must be one of ${choices.join(', ')}`,
  };
}
