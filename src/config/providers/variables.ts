/** A variable in a value: `${provider:[path:]key}`. */
export interface Variable {
  /** As it stands in the value. */
  readonly text: string;
  readonly provider: string;
  /** Empty where there is none. */
  readonly path: string;
  readonly key: string;
}

export function variablesOf(value: string): Variable[] {
  return Array.from(matches(value), ({ variable }) => variable);
}

export function hasVariables(value: string): boolean {
  return matches(value).next().done !== true;
}

/** One pass: what comes in is not looked at again. Variables without a value stay as they are. */
export function replaceVariables(value: string, lookup: (variable: Variable) => string | undefined): string {
  let text = '';
  let at = 0;
  for (const { start, end, variable } of matches(value)) {
    text += value.slice(at, start) + (lookup(variable) ?? variable.text);
    at = end;
  }
  return text + value.slice(at);
}

interface Match {
  readonly start: number;
  readonly end: number;
  readonly variable: Variable;
}

/**
 * What `\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}` finds (org.apache.kafka.common.config.ConfigTransformer.DEFAULT_PATTERN), in
 * linear time: a variable ends at the next brace and must have a colon before it.
 */
function* matches(value: string): Generator<Match, void, undefined> {
  let start = value.indexOf('${');
  while (start >= 0) {
    const close = value.indexOf('}', start);
    if (close < 0) return;
    const [provider = '', ...rest] = value.slice(start + 2, close).split(':');
    const [path, key] = rest.length > 1 ? [rest[0] ?? '', rest.slice(1).join(':')] : ['', rest[0] ?? ''];
    const end = close + 1;
    if (rest.length > 0) yield { start, end, variable: { text: value.slice(start, end), provider, path, key } };
    start = value.indexOf('${', end);
  }
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
