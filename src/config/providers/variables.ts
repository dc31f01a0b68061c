/** A variable in a value: `${provider:[path:]key}`. */
export interface Variable {
  /** As written in the value. */
  readonly text: string;
  readonly provider: string;
  /** Empty if there is none. */
  readonly path: string;
  readonly key: string;
}

export function variablesOf(value: string): Variable[] {
  return Array.from(matches(value), ({ variable }) => variable);
}

export function hasVariables(value: string): boolean {
  return matches(value).next().done !== true;
}

/** Resolves variables in one pass: values are not resolved recursively. Variables without a value stay unchanged. */
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
 * Finds the matches of `\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}` (org.apache.kafka.common.config.ConfigTransformer.DEFAULT_PATTERN) in
 * linear time: a variable ends at the next closing brace and contains a colon.
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

/** Resolved values of at least this length are replaced anywhere within other values; shorter ones may occur by chance. */
const MIN_UNAMBIGUOUS_LENGTH = 8;

/**
 * Restores variables in the configuration `made`, which a connector derived from its own configuration `given`, so that
 * no resolved value is stored. An option with variables in `given` gets its text from there
 * (org.apache.kafka.connect.runtime.AbstractHerder#reverseTransform). In other options, resolved values of at least
 * eight characters are replaced by their variables. `values`: the resolved values in `given` by variable.
 */
export function withVariables(
  made: Readonly<Record<string, string>>,
  given: Readonly<Record<string, string>>,
  values: ReadonlyMap<string, string>,
): Record<string, string> {
  const unambiguous = [...values].filter(([, value]) => value.length >= MIN_UNAMBIGUOUS_LENGTH);
  return Object.fromEntries(
    Object.entries(made).map(([key, value]) => {
      const own = given[key];
      if (own !== undefined && (own === value || hasVariables(own))) return [key, own];
      return [key, unambiguous.reduce((text, [variable, secret]) => text.replaceAll(secret, () => variable), value)];
    }),
  );
}
