import type { Password } from './password.ts';

/** Connect's option types (ConfigDef.Type), as `/config/validate` names them. */
export type OptionType = 'BOOLEAN' | 'STRING' | 'INT' | 'SHORT' | 'LONG' | 'DOUBLE' | 'LIST' | 'CLASS' | 'PASSWORD';
export type Importance = 'HIGH' | 'MEDIUM' | 'LOW';
export type Width = 'NONE' | 'SHORT' | 'MEDIUM' | 'LONG';

/** The parsed value of each type. LONG is a number if it is a safe integer, otherwise a bigint. */
export interface ParsedTypes {
  BOOLEAN: boolean;
  STRING: string;
  INT: number;
  SHORT: number;
  LONG: number | bigint;
  DOUBLE: number;
  LIST: readonly string[];
  CLASS: string;
  PASSWORD: Password;
}

/**
 * Checks a parsed value. `text` describes the allowed values in API answers and in the option tables of the documents.
 */
export interface Validator {
  readonly text: string;
  /** All allowed values, if they are a closed set of texts. */
  readonly choices?: readonly string[];
  /** Lists only: repeated entries are dropped before a connector sees them, and reported by validation. */
  readonly distinct?: boolean;
  /**
   * @returns `undefined` if the value is allowed; otherwise the reason, which the worker prints after `Invalid value …
   * for configuration …: `, or an object with the whole message
   */
  check(name: string, value: unknown): string | { readonly message: string } | undefined;
}

/** Recommended values and visibility of an option, given the other parsed values (ConfigDef.Recommender). */
export interface Recommender {
  validValues(name: string, parsed: ReadonlyMap<string, unknown>): readonly unknown[];
  visible(name: string, parsed: ReadonlyMap<string, unknown>): boolean;
}

/**
 * One option of a plugin or of the worker. This declaration is the single source of its parsing, its validation, the answer of
 * `/config/validate`, its row in the tables of docs/ and the TypeScript type of its parsed value.
 */
export interface OptionDeclaration<T extends OptionType = OptionType> {
  readonly type: T;
  /**
   * The default. Absent: the option is required. `null`: the option is optional and has no default. A text is parsed in
   * the same way as a configured value.
   */
  readonly default?: string | number | bigint | boolean | readonly string[] | null;
  readonly importance: Importance;
  readonly documentation: string;
  readonly validator?: Validator;
  readonly group?: string;
  /** Position in the group. Absent: counted from 1 in the group; -1 without a group. */
  readonly order?: number;
  readonly width?: Width;
  readonly displayName?: string;
  readonly dependents?: readonly string[];
  readonly recommender?: Recommender;
  /** Not shown to users. */
  readonly internal?: boolean;
}

/** Options by name, in the order in which they are shown. */
export type OptionDeclarations = Readonly<Record<string, OptionDeclaration>>;

/**
 * The types of the parsed values of a set of declarations. They include `null` only where `default: null` is declared.
 */
export type ParsedOptions<D extends OptionDeclarations> = {
  readonly [K in keyof D]: D[K] extends { default: null }
    ? ParsedTypes[D[K]['type']] | null
    : ParsedTypes[D[K]['type']];
};

/**
 * Declares the options of a plugin and keeps their literal types, so that `parseOptions` returns typed values.
 *
 * ```ts
 * const options = declareOptions({
 *   url: { type: 'STRING', importance: 'HIGH', documentation: 'Where records are sent.', validator: nonEmptyString },
 *   'batch.size': { type: 'INT', default: 100, importance: 'LOW', documentation: 'Records of a request.' },
 * });
 * const settings = parseOptions(options, config); // settings.url: string, settings['batch.size']: number
 * ```
 */
export function declareOptions<const D extends OptionDeclarations>(declarations: D): D {
  return declarations;
}

/** The result of the validation of one option (ConfigValue). */
export interface OptionResult {
  readonly name: string;
  readonly value: unknown;
  readonly recommendedValues: readonly unknown[];
  readonly errors: readonly string[];
  readonly visible: boolean;
}
