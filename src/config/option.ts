import type { Password } from './password.ts';

/** Connect's option types (ConfigDef.Type); validate answers print these names. */
export type OptionType = 'BOOLEAN' | 'STRING' | 'INT' | 'SHORT' | 'LONG' | 'DOUBLE' | 'LIST' | 'CLASS' | 'PASSWORD';
export type Importance = 'HIGH' | 'MEDIUM' | 'LOW';
export type Width = 'NONE' | 'SHORT' | 'MEDIUM' | 'LONG';

/** What a value of each type is after parsing. LONG is a number while it is a safe integer, else a bigint. */
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

/** Checks a parsed value; `text` is how Connect prints the validator (ConfigDef.Validator.toString). */
export interface Validator {
  readonly text: string;
  /** Lists only: repeated entries are dropped before a connector sees them, and reported by validation. */
  readonly distinct?: boolean;
  /**
   * `undefined` when the value is fine; else the reason, without the `Invalid value … for configuration …:` part, or
   * the whole message where Connect's own does not begin like that.
   */
  check(name: string, value: unknown): string | { readonly message: string } | undefined;
}

/** Recommended values and visibility of an option, given the other parsed values (ConfigDef.Recommender). */
export interface Recommender {
  validValues(name: string, parsed: ReadonlyMap<string, unknown>): readonly unknown[];
  visible(name: string, parsed: ReadonlyMap<string, unknown>): boolean;
}

/**
 * One option. This declaration is the single source of its parsing, its validation, the answer of
 * `/config/validate`, its row in the README's tables and the TypeScript type of its parsed value.
 */
export interface OptionDeclaration<T extends OptionType = OptionType> {
  readonly type: T;
  /** Absent: required. `null`: optional without a default. Text is parsed like a given value. */
  readonly default?: string | number | bigint | boolean | readonly string[] | null;
  readonly importance: Importance;
  readonly documentation: string;
  readonly validator?: Validator;
  readonly group?: string;
  /** Place in the group. Absent: counted from 1 within the group; -1 without a group. */
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

/** The parsed values of a set of declarations: `null` is possible exactly where `default: null` is declared. */
export type ParsedOptions<D extends OptionDeclarations> = {
  readonly [K in keyof D]: D[K] extends { default: null }
    ? ParsedTypes[D[K]['type']] | null
    : ParsedTypes[D[K]['type']];
};

/** Keeps the literal types of the declarations, so that `ParsedOptions<typeof options>` is exact. */
export function declareOptions<const D extends OptionDeclarations>(declarations: D): D {
  return declarations;
}

/** What a validation says of one option (ConfigValue). */
export interface OptionResult {
  readonly name: string;
  readonly value: unknown;
  readonly recommendedValues: readonly unknown[];
  readonly errors: readonly string[];
  readonly visible: boolean;
}
