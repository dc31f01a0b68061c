import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify as yamlText } from 'yaml';
import { ConfigError } from '../../errors.ts';
import type { ClusterConnector, ConnectClient } from './connect-client.ts';
import type { DesiredState } from './connector-files.ts';
import { escapeVariables } from './file-variables.ts';
import { isSecret, optionTypes, type OptionTypes } from './hidden-values.ts';
import { stateOf } from './plan.ts';

export const FORMATS = ['json', 'yaml', 'properties'] as const;
export type FileFormat = (typeof FORMATS)[number];

export interface ExportOptions {
  readonly client: ConnectClient;
  readonly folder: string;
  readonly format: FileFormat;
  readonly force: boolean;
}

export interface Exported {
  /** Paths of the files written. */
  readonly files: readonly string[];
  /** Values of the variables that replace the secrets in the files. */
  readonly variables: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

/** Writes one file for each connector of the cluster; secrets become variables. Overwrites nothing without `force`. */
export async function exportConnectors({ client, folder, format, force }: ExportOptions): Promise<Exported> {
  const cluster = await client.connectors();
  const variables = new SecretVariables();
  const warnings: string[] = [];
  const contents = new Map<string, string>();
  const stems = new Set<string>();
  for (const [name, connector] of Object.entries(cluster).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const types = await typesOf(client, connector);
    const entries = Object.entries(connector.info.config).filter(([key]) => key !== 'name');
    const config: Record<string, string> = {};
    for (const [key, value] of entries) {
      if (value === null) warnings.push(`${name}: ${key} has no value (null) and is left out`);
      else config[key] = isSecret(key, value, types) ? variables.add(name, key, value) : escapeVariables(value);
    }
    const state = stateOf(connector);
    if (format === 'properties' && state !== 'running') {
      warnings.push(`${name} is ${state}, which a properties file cannot say`);
    }
    const file = `${fileStem(name, stems)}.${format}`;
    contents.set(join(folder, file), contentOf(format, escapeVariables(name), config, state));
  }
  await mkdir(folder, { recursive: true });
  if (!force) await mustBeNew([...contents.keys()]);
  for (const [path, content] of contents) await writeFile(path, content, { flag: force ? 'w' : 'wx' });
  return { files: [...contents.keys()], variables: variables.values, warnings };
}

/**
 * The types of options, as the worker's validation reports them. If the validation fails, only the names and the values
 * of options indicate secrets.
 */
async function typesOf(client: ConnectClient, { info }: ClusterConnector): Promise<OptionTypes> {
  const pluginClass = info.config['connector.class'] ?? '';
  if (pluginClass === '') return new Map();
  try {
    return optionTypes(await client.validate(pluginClass, info.config));
  } catch {
    return new Map();
  }
}

async function mustBeNew(paths: readonly string[]): Promise<void> {
  const there: string[] = [];
  for (const path of paths) {
    await access(path).then(
      () => there.push(path),
      () => undefined,
    );
  }
  if (there.length > 0) {
    throw new ConfigError(`These files exist; --force overwrites them: ${there.join(', ')}`);
  }
}

class SecretVariables {
  readonly values: Record<string, string> = {};

  /** The reference that replaces the value. */
  add(connector: string, key: string, value: string): string {
    const base = `${connector}_${key}`.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
    const first = /^[0-9]/.test(base) ? `_${base}` : base;
    let name = first;
    for (let count = 2; Object.hasOwn(this.values, name); count += 1) name = `${first}_${String(count)}`;
    this.values[name] = value;
    return `\${${name}}`;
  }
}

/**
 * A name as part of a path on any system. Each returned name is unique, regardless of case.
 * @internal
 */
export function fileStem(name: string, taken: Set<string>): string {
  const safe = name
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^\.+/, '_')
    .slice(0, 100);
  const first = safe === '' || /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(safe) ? `_${safe}` : safe;
  let stem = first;
  for (let count = 2; taken.has(stem.toLowerCase()); count += 1) stem = `${first}-${String(count)}`;
  taken.add(stem.toLowerCase());
  return stem;
}

function contentOf(format: FileFormat, name: string, config: Record<string, string>, state: DesiredState): string {
  if (format === 'properties') return propertiesText({ name, ...config });
  const content = { name, ...(state === 'running' ? {} : { state }), config };
  return format === 'json' ? `${JSON.stringify(content, null, 2)}\n` : yamlText(content, { lineWidth: 0 });
}

/** The entries in the format of java.util.Properties, with non-ASCII characters escaped. */
export function propertiesText(entries: Readonly<Record<string, string>>): string {
  return Object.entries(entries)
    .map(([key, value]) => `${escaped(key).replace(/[\s=:#!]/g, '\\$&')}=${escaped(value).replace(/^ /, '\\ ')}\n`)
    .join('');
}

const CONTROLS: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\f': '\\f' };

function escaped(text: string): string {
  return text.replace(/[\\\n\r\t\f]|[^ -~]/g, (character) => {
    return CONTROLS[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
