import { doubleText } from '../java/java-number-text.ts';
import type { Validator } from './option.ts';
import { invalidValueText } from './to-text.ts';
import { JavaPattern } from '../java/java-regex.ts';
import { toError } from '../errors.ts';

/**
 * Connect's validators (ConfigDef.Range, ValidString, ValidList, …) with its messages. A value may be `null` if the default is, or
 * if the text could not be parsed.
 */

interface RangeSettings {
  /** Prints the bounds as Java doubles (`[0.5,...,1.0]`). */
  readonly decimal?: boolean;
}

/** Numbers that are at least `min`. */
export function atLeast(min: number, settings: RangeSettings = {}): Validator {
  return range(min, undefined, settings);
}

/** Numbers from `min` to `max`, inclusive. */
export function between(min: number, max: number, settings: RangeSettings = {}): Validator {
  return range(min, max, settings);
}

function range(min: number, max: number | undefined, { decimal = false }: RangeSettings): Validator {
  const print = decimal ? doubleText : String;
  return {
    text: max === undefined ? `[${print(min)},...]` : `[${print(min)},...,${print(max)}]`,
    check(_name, value) {
      if (value === null) return 'Value must be non-null';
      if (Number(value) < min) return `Value must be at least ${print(min)}`;
      if (max !== undefined && Number(value) > max) return `Value must be no more than ${print(max)}`;
      return undefined;
    },
  };
}

/** One of the given strings (ValidString), case-sensitive. */
export function oneOf(...choices: readonly string[]): Validator {
  const list = choices.join(', ');
  return {
    text: `[${list}]`,
    choices,
    check: (_name, value) =>
      typeof value === 'string' && choices.includes(value) ? undefined : `String must be one of: ${list}`,
  };
}

/** One of the given strings, case-insensitive. Messages show them in upper case, like Connect's. */
export function oneOfIgnoringCase(...choices: readonly string[]): Validator {
  const upper = choices.map((choice) => choice.toUpperCase());
  const list = upper.join(', ');
  return {
    text: `(case insensitive) [${list}]`,
    choices,
    check: (_name, value) =>
      typeof value === 'string' && upper.includes(value.toUpperCase())
        ? undefined
        : `String must be one of (case insensitive): ${list}`,
  };
}

export const nonNull: Validator = {
  text: 'non-null string',
  check: (_name, value) => (value === null ? 'entry must be non null' : undefined),
};

/** A string with at least one character; `null` passes. */
export const nonEmptyString: Validator = {
  text: 'non-empty string',
  check: (_name, value) => (value === '' ? 'String must be non-empty' : undefined),
};

/** A non-empty string without control characters; `null` passes. */
export const nonEmptyStringWithoutControlChars: Validator = {
  text: 'non-empty string without ISO control characters',
  check(_name, value) {
    if (typeof value !== 'string') return undefined;
    if (value === '') return 'String may not be empty';
    const controls = [...value].map((char) => char.charCodeAt(0)).filter(isControl);
    if (controls.length === 0) return undefined;
    return `String may not contain control sequences but had the following ASCII chars: ${controls.join(', ')}`;
  },
};

function isControl(code: number): boolean {
  return code < 32 || (code >= 127 && code < 160);
}

interface ListSettings {
  readonly emptyAllowed?: boolean;
  readonly nullAllowed?: boolean;
}

/** A list of distinct entries of `choices` (ValidList.in). */
export function listOf(choices: readonly string[], settings: ListSettings = {}): Validator {
  return list(choices, settings);
}

/** A list of distinct, non-empty entries (ValidList.anyNonDuplicateValues). By default it may be empty, but not `null`. */
export function distinctList(settings: ListSettings = {}): Validator {
  return list([], settings);
}

function list(choices: readonly string[], { emptyAllowed = true, nullAllowed = false }: ListSettings): Validator {
  const text = choices.length === 0 ? '' : `[${choices.join(', ')}]`;
  const whole = (name: string, rest: string): { message: string } => ({ message: `Configuration '${name}' ${rest}` });
  return {
    text,
    distinct: true,
    check(name, value) {
      if (!Array.isArray(value)) return nullAllowed ? undefined : whole(name, 'values must not be null.');
      const entries: readonly unknown[] = value;
      if (entries.length === 0 && !emptyAllowed) {
        return whole(name, `must not be empty. Valid values include: ${text === '' ? 'any non-empty value' : text}`);
      }
      if (new Set(entries).size !== entries.length) return whole(name, 'values must not be duplicated.');
      return entryError(name, entries, choices);
    },
  };
}

/** Reports the first entry that is empty or not in `choices`, in Connect's order. */
function entryError(
  name: string,
  entries: readonly unknown[],
  choices: readonly string[],
): { message: string } | undefined {
  for (const entry of entries) {
    if (entry === '') return { message: `Configuration '${name}' values must not be empty.` };
    if (choices.length > 0 && !choices.includes(String(entry))) {
      return { message: invalidValueText(name, entry, `String must be one of: ${choices.join(', ')}`) };
    }
  }
  return undefined;
}

/** A list of at most `size` entries. */
export function listSizeAtMost(size: number): Validator {
  return {
    text: `List containing maximum of ${String(size)} elements`,
    check: (_name, value) =>
      Array.isArray(value) && value.length > size ? `exceeds maximum list size of [${String(size)}].` : undefined,
  };
}

/** A list of distinct aliases (`transforms`, `predicates`, `topic.creation.groups`); `what` names them in messages. */
export function uniqueAliases(what: string, repeated: string): Validator {
  return {
    text: `non-null string, unique ${what}`,
    check(_name, value) {
      if (!Array.isArray(value)) return 'entry must be non null';
      return new Set<unknown>(value).size === value.length ? undefined : repeated;
    },
  };
}

/** All of the given validators; the first error is reported. */
export function composite(...validators: readonly Validator[]): Validator {
  return {
    text: validators.map(({ text }) => text).join(', '),
    check(name, value) {
      for (const validator of validators) {
        const verdict = validator.check(name, value);
        if (verdict !== undefined) return verdict;
      }
      return undefined;
    },
  };
}

/** Also accepts `null`. */
export function nullOr(validator: Validator): Validator {
  return { ...validator, check: (name, value) => (value === null ? undefined : validator.check(name, value)) };
}

/** Partitions and replication factors of topics that the worker creates: positive, or -1 for the broker's default. */
export function topicNumber(what: string, text: string): Validator {
  const rest = `${text.charAt(0).toLowerCase()}${text.slice(1)}`.replace('number ', '');
  return {
    text,
    check: (_name, value) => (Number(value ?? 0) >= 1 || value === -1 ? undefined : `${what} must be ${rest}`),
  };
}

/** A Java regular expression that compiles (`topics.regex`, RegexRouter, TopicNameMatches). */
export const validRegex: Validator = {
  text: 'valid regex',
  check(_name, value) {
    if (typeof value !== 'string') return 'Invalid regex: missing value';
    try {
      JavaPattern.compile(value);
      return undefined;
    } catch (error) {
      return `Invalid regex: ${toError(error).message}`;
    }
  },
};
