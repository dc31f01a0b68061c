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
