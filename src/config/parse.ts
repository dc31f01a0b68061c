import { parseDouble, parseInteger } from '../java/java-number-text.ts';
import { javaTrim } from '../java/java-text.ts';
import { withoutJavaBlanks } from '../data/text-ends.ts';
import { ConfigError, toError } from '../errors.ts';
import type { OptionDeclaration, OptionDeclarations, OptionResult, OptionType, ParsedOptions } from './option.ts';
import { Password } from './password.ts';
import { invalidValueText } from './to-text.ts';

/** Finds the class of an option by full name or alias and returns its full name; `undefined` if it does not exist. */
export type ClassFinder = (className: string, option: string) => string | undefined;

/** A flat configuration before validation; values may be JSON `null`. */
export type RawConfig = Readonly<Record<string, string | null | undefined>>;

export interface ParseSettings {
  /** Without it, any non-empty class name is accepted. */
  readonly findClass?: ClassFinder | undefined;
}

const INTEGER_BITS = { SHORT: 16, INT: 32, LONG: 64 } as const;

/**
 * Parses one value by Connect's rules (ConfigDef.parseType): text is trimmed, lists are split at commas and keep empty entries,
 * `null` stays `null`. Values other than text are considered parsed. Throws a ConfigError with Connect's message.
 */
export function parseValue(name: string, type: OptionType, raw: unknown, settings: ParseSettings = {}): unknown {
  if (raw === null || raw === undefined) return null;
  if (typeof raw !== 'string') return raw;
  const text = javaTrim(raw);
  switch (type) {
    case 'STRING':
      return text;
    case 'PASSWORD':
      return new Password(text);
    case 'LIST':
      return text === '' ? [] : text.split(',').map(withoutJavaBlanks);
    case 'BOOLEAN':
      return parseBoolean(name, raw, text);
    case 'CLASS':
      return parseClass(name, raw, text, settings.findClass);
    case 'DOUBLE':
      return parseDouble(text) ?? refuse(name, raw, 'Not a number of type DOUBLE');
    case 'SHORT':
    case 'INT':
    case 'LONG':
      return parseBounded(name, raw, text, type);
  }
}

function parseBoolean(name: string, raw: string, text: string): boolean {
  const lower = text.toLowerCase();
  if (lower === 'true') return true;
  if (lower === 'false') return false;
  return refuse(name, raw, 'Expected value to be either true or false');
}

function parseClass(name: string, raw: string, text: string, findClass: ClassFinder | undefined): string {
  const found = findClass === undefined ? text : findClass(text, name);
  return found === undefined || found === '' ? refuse(name, raw, `Class ${raw} could not be found.`) : found;
}

function parseBounded(name: string, raw: string, text: string, type: 'SHORT' | 'INT' | 'LONG'): number | bigint {
  const value = parseInteger(text);
  if (value === undefined || BigInt.asIntN(INTEGER_BITS[type], value) !== value) {
    return refuse(name, raw, `Not a number of type ${type}`);
  }
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function refuse(name: string, value: unknown, reason: string): never {
  throw new ConfigError(invalidValueText(name, value, reason));
}

/** The complete error message of the option's validator, or `undefined` if the value is valid. */
function validationError(name: string, declaration: OptionDeclaration, value: unknown): string | undefined {
  const verdict = declaration.validator?.check(name, value);
  if (verdict === undefined) return undefined;
  return typeof verdict === 'string' ? invalidValueText(name, value, verdict, declaration.type) : verdict.message;
}

/** The parsed default; `undefined` for a required option. */
export function defaultValue(name: string, declaration: OptionDeclaration): unknown {
  return declaration.default === undefined ? undefined : parseValue(name, declaration.type, declaration.default);
}

/**
 * Throws a ConfigError if a default does not pass its own validator, which is a mistake in the declaration.
 * @internal
 */
export function checkDeclarations(declarations: OptionDeclarations): void {
  for (const [name, declaration] of Object.entries(declarations)) {
    if (declaration.default === undefined) continue;
    const message = validationError(name, declaration, defaultValue(name, declaration));
    if (message !== undefined) throw new ConfigError(message);
  }
}

interface Parsed {
  readonly value: unknown;
  readonly errors: readonly string[];
}

function missingText(name: string): string {
  return `Missing required configuration "${name}" which has no default value.`;
}

function parseOne(name: string, declaration: OptionDeclaration, config: RawConfig, settings: ParseSettings): Parsed {
  const errors: string[] = [];
  let value: unknown = null;
  if (config[name] !== undefined) {
    try {
      value = parseValue(name, declaration.type, config[name], settings);
    } catch (error) {
      errors.push(toError(error).message);
    }
  } else if (declaration.default === undefined) {
    errors.push(missingText(name));
  } else {
    value = defaultValue(name, declaration);
  }
  return { value, errors };
}

/**
 * Parses and checks the declared options of a configuration; other keys are ignored.
 * @param settings `errors: 'first'` reports only the first error, as `configure` of a Java plugin does
 * @returns the typed value of each option; an option that is missing has its default
 * @throws ConfigError with one line for each option that is missing or wrong
 */
export function parseOptions<D extends OptionDeclarations>(
  declarations: D,
  config: RawConfig,
  settings: ParseSettings & { readonly errors?: 'all' | 'first' } = {},
): ParsedOptions<D> {
  const values: Record<string, unknown> = {};
  const messages: string[] = [];
  for (const [name, declaration] of Object.entries(declarations)) {
    const parsed = parseOne(name, declaration, config, settings);
    const value = distinct(declaration, parsed.value);
    const error = parsed.errors[0] ?? validationError(name, declaration, value);
    if (error !== undefined) messages.push(error);
    if (error !== undefined && settings.errors === 'first') break;
    values[name] = value;
  }
  if (messages.length > 0) throw new ConfigError(messages.join('\n'));
  return values as ParsedOptions<D>;
}

function distinct(declaration: OptionDeclaration, value: unknown): unknown {
  return declaration.validator?.distinct === true && Array.isArray(value) ? [...new Set(value)] : value;
}

/**
 * Validates every option (ConfigDef.validate). Returns the results, with the value and all errors of each option, in
 * declaration order. A value that cannot be parsed is `null`; its validator is called with `null` too, as in Connect.
 */
export function validateOptions(
  declarations: OptionDeclarations,
  config: RawConfig,
  settings: ParseSettings = {},
): OptionResult[] {
  const values = new Map<string, unknown>();
  const errors = new Map<string, string[]>();
  for (const [name, declaration] of Object.entries(declarations)) {
    const parsed = parseOne(name, declaration, config, settings);
    const invalid = validationError(name, declaration, parsed.value);
    values.set(name, parsed.value);
    errors.set(name, invalid === undefined ? [...parsed.errors] : [...parsed.errors, invalid]);
  }
  return Object.entries(declarations).map(([name, declaration]) => ({
    name,
    value: values.get(name),
    errors: errors.get(name) ?? [],
    ...recommendation(name, declaration, values),
  }));
}

function recommendation(
  name: string,
  { recommender }: OptionDeclaration,
  values: ReadonlyMap<string, unknown>,
): Pick<OptionResult, 'recommendedValues' | 'visible'> {
  if (recommender === undefined) return { recommendedValues: [], visible: true };
  return { recommendedValues: recommender.validValues(name, values), visible: recommender.visible(name, values) };
}
