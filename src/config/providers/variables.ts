/** A variable in a value: `${provider:[path:]key}`. */
export interface Variable {
  /** As it stands in the value. */
  readonly text: string;
  readonly provider: string;
  /** Empty where there is none. */
  readonly path: string;
  readonly key: string;
}

/** org.apache.kafka.common.config.ConfigTransformer.DEFAULT_PATTERN */
const VARIABLE = /\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}/g;

export function variablesOf(value: string): Variable[] {
  return Array.from(value.matchAll(VARIABLE), toVariable);
}

export function hasVariables(value: string): boolean {
  return value.search(VARIABLE) >= 0;
}

/** One pass: what comes in is not looked at again. Variables without a value stay as they are. */
export function replaceVariables(value: string, lookup: (variable: Variable) => string | undefined): string {
  return value.replace(VARIABLE, (text: string, ...groups: (string | undefined)[]) => {
    return lookup(variable(text, groups[0], groups[2], groups[3])) ?? text;
  });
}

function toVariable(match: RegExpMatchArray): Variable {
  return variable(match[0], match[1], match[3], match[4]);
}

function variable(text: string, provider = '', path = '', key = ''): Variable {
  return { text, provider, path, key };
}

/** A value of at least this many characters is taken for a variable's, wherever it stands. */
const MIN_TELLING_LENGTH = 8;

/**
 * Configurations that a connector made from its own, to be stored: where it copied a value, the variable stands again
 * (org.apache.kafka.connect.runtime.AbstractHerder#reverseTransform), and where it put one into another value as well.
 * `values` are those that were put into `given`, by variable.
 */
export function withVariables(
  made: Readonly<Record<string, string>>,
  given: Readonly<Record<string, string>>,
  values: ReadonlyMap<string, string>,
): Record<string, string> {
  const telling = [...values].filter(([, value]) => value.length >= MIN_TELLING_LENGTH);
  return Object.fromEntries(
    Object.entries(made).map(([key, value]) => {
      const own = given[key];
      if (own !== undefined && (own === value || hasVariables(own))) return [key, own];
      return [key, telling.reduce((text, [variable, secret]) => text.replaceAll(secret, () => variable), value)];
    }),
  );
}
