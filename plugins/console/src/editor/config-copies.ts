import type { Entry } from './config-document.ts';

/** The configuration to copy. */
export interface CopiedConfig {
  readonly entries: readonly Entry[];
  readonly secrets: ReadonlySet<string>;
}

const CONTROLS: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\f': '\\f' };

/**
 * A curl command for a POSIX shell. Secrets become shell variables, which the command inserts into JSON strings. The
 * user must therefore set each variable to the secret with JSON's escapes, but without quotes around it.
 */
export function curlCommand(origin: string, { entries, secrets }: CopiedConfig): string {
  const name = nameIn(entries);
  const variables = new VariableNames();
  const lines = entries.flatMap(([key, value]) => {
    if (value === null) return [];
    const quoted = shellText(`  ${JSON.stringify(key)}: `);
    if (!secrets.has(key)) return [quoted + shellText(JSON.stringify(value))];
    return [`${quoted}'"'"$${variables.of(key)}"'"'`];
  });
  const url = `${origin}/connectors/${encodeURIComponent(name)}/config`;
  const body = lines.join(shellText(',\n'));
  return [
    `curl -X PUT ${shellText(url)} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  --data-binary ${joined(`${shellText('{\n')}${body}${shellText('\n}')}`)}`,
    '',
  ].join('\n');
}

/** The configuration in the format of java.util.Properties. Secrets become references to environment variables (EnvVarConfigProvider). */
export function propertiesText({ entries, secrets }: CopiedConfig): string {
  const variables = new VariableNames();
  return entries
    .flatMap(([key, value]) => {
      if (value === null) return [];
      const shown = secrets.has(key) ? `\${env:${variables.of(key)}}` : value;
      return [`${escaped(key).replace(/[ =:#!]/g, '\\$&')}=${escaped(shown).replace(/^ /, '\\ ')}\n`];
    })
    .join('');
}

/** The configuration as a KafkaConnector of Strimzi. Secrets become references to environment variables (EnvVarConfigProvider). */
export function strimziText({ entries, secrets }: CopiedConfig): string {
  const variables = new VariableNames();
  const name = nameIn(entries);
  const tasks = entries.find(([key]) => key === 'tasks.max')?.[1] ?? '';
  const apart = new Set(['name', 'connector.class', 'tasks.max']);
  const config = entries.flatMap(([key, value]) => {
    if (value === null || apart.has(key)) return [];
    return [`    ${yamlText(key)}: ${yamlText(secrets.has(key) ? `\${env:${variables.of(key)}}` : value)}`];
  });
  return [
    'apiVersion: kafka.strimzi.io/v1beta2',
    'kind: KafkaConnector',
    'metadata:',
    `  name: ${yamlText(resourceName(name))}`,
    '  labels:',
    '    strimzi.io/cluster: my-connect-cluster',
    'spec:',
    `  class: ${yamlText(entries.find(([key]) => key === 'connector.class')?.[1] ?? '')}`,
    ...(/^\d{1,9}$/.test(tasks) ? [`  tasksMax: ${String(Number(tasks))}`] : []),
    ...(config.length === 0 ? [] : ['  config:', ...config]),
    '',
  ].join('\n');
}

function nameIn(entries: readonly Entry[]): string {
  return entries.find(([key]) => key === 'name')?.[1] ?? '';
}

/** Quotes a text with single quotes, in which a shell interprets no character. */
function shellText(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Removes the closing and opening quotes between adjacent quoted parts, which a shell joins to one word. */
function joined(text: string): string {
  return text.replaceAll(/(?<!\\)''/g, '');
}

function escaped(text: string): string {
  return text.replace(/[\\\n\r\t\f]|[^ -~]/g, (character) => CONTROLS[character] ?? unicode(character));
}

/** A double-quoted YAML string: a JSON string in which unprintable characters are escaped, too. */
function yamlText(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, unicode);
}

function unicode(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Converts a name for Kubernetes: lower-case letters, digits, dots and hyphens, with a letter or digit at both ends. */
function resourceName(name: string): string {
  const safe = name.toLowerCase().replace(/[^a-z0-9.-]/g, '-');
  const start = safe.search(/[a-z0-9]/);
  let end = safe.length;
  while (end > 0 && !/[a-z0-9]/.test(safe.charAt(end - 1))) end -= 1;
  const whole = start < 0 ? '' : safe.slice(start, end).slice(0, 253);
  return whole === '' ? 'connector' : whole;
}

/** Assigns a variable name to each key, such as `CONNECTION_PASSWORD` to `connection.password`. No name is assigned twice. */
class VariableNames {
  readonly #taken = new Set<string>();

  of(key: string): string {
    const base = key.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
    const first = /^[A-Z_]/.test(base) ? base : `_${base}`;
    let name = first;
    for (let count = 2; this.#taken.has(name); count += 1) name = `${first}_${String(count)}`;
    this.#taken.add(name);
    return name;
  }
}
