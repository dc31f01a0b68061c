import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  type Document,
  type Node,
  type YAMLMap,
} from 'yaml';
import { decode, parseProperties } from '../../config/properties-file.ts';
import { ConfigError, toError } from '../../errors.ts';
import { replaceFileVariables, type Variables } from './file-variables.ts';

/** The states that Connect has for a connector as a whole. */
const STATES = ['running', 'paused', 'stopped'] as const;
export type DesiredState = (typeof STATES)[number];

/** A connector as a file describes it. */
export interface DesiredConnector {
  readonly name: string;
  /** The configuration with `name`, and with variables replaced. */
  readonly config: Readonly<Record<string, string>>;
  /** `state`: the state that each `apply` sets. */
  readonly state: DesiredState | undefined;
  /** `initial_state`: the state that a connector without `state` gets when it is created. */
  readonly initialState: DesiredState | undefined;
  /** `FILE:LINE` */
  readonly place: string;
}

export interface ReadOptions {
  readonly folder: string;
  readonly variables: Variables;
  /** Called with the values of variables whose names suggest secrets. */
  readonly learn: (secret: string) => void;
  /** Files in the folder that are skipped, because they describe no connectors. */
  readonly except?: readonly string[];
}

interface Entry {
  readonly key: string;
  readonly text: string;
  readonly line: number;
}

/** The content of a document before variables are replaced. */
interface Described {
  readonly line: number;
  readonly name: Entry | undefined;
  readonly config: readonly Entry[];
  readonly state: Entry | undefined;
  readonly initialState: Entry | undefined;
}

const MAX_FILES = 10_000;
const MAX_BYTES = 4_000_000;
const KNOWN = /\.(json|ya?ml|properties)$/i;

/**
 * Reads all connectors of a folder and its subfolders from `.json`, `.yaml`, `.yml` and `.properties` files. A YAML
 * file may have several documents, and a document may be a KafkaConnector resource of Strimzi. After all files were
 * read, one ConfigError lists what is wrong in them, each with its file and, where possible, its line.
 */
export async function readConnectorFiles(options: ReadOptions): Promise<DesiredConnector[]> {
  const faults: string[] = [];
  const connectors = new Map<string, DesiredConnector>();
  const except = await Promise.all((options.except ?? []).map((path) => realpath(path).catch(() => path)));
  for (const path of await connectorPaths(options.folder)) {
    if (except.includes(await realpath(path))) continue;
    const shown = relative(options.folder, path);
    for (const connector of await readOne(path, shown, options, faults)) {
      const earlier = connectors.get(connector.name);
      if (earlier === undefined) connectors.set(connector.name, connector);
      else faults.push(`${connector.place}: the connector ${connector.name} is also described at ${earlier.place}`);
    }
  }
  if (faults.length > 0) throw new ConfigError(faults.join('\n'));
  return [...connectors.values()];
}

async function connectorPaths(folder: string): Promise<string[]> {
  const paths: string[] = [];
  const walk = async (place: string): Promise<void> => {
    const entries = await readdir(place, { withFileTypes: true }).catch((error: unknown) => {
      throw new ConfigError(`The folder ${place} cannot be read: ${toError(error).message}`, { cause: error });
    });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.')) continue;
      if (entry.isDirectory()) await walk(join(place, entry.name));
      else if (KNOWN.test(entry.name)) paths.push(join(place, entry.name));
      if (paths.length > MAX_FILES) throw new ConfigError(`${folder} has more than ${String(MAX_FILES)} files`);
    }
  };
  await walk(folder);
  return paths;
}

async function readOne(
  path: string,
  shown: string,
  options: ReadOptions,
  faults: string[],
): Promise<DesiredConnector[]> {
  const connectors: DesiredConnector[] = [];
  try {
    if ((await stat(path)).size > MAX_BYTES)
      throw new ConfigError(`the file is larger than ${String(MAX_BYTES)} bytes`);
    const text = decode(await readFile(path)).replace(/^\ufeff/, '');
    for (const described of describe(text, /\.properties$/i.test(path))) {
      const connector = desired(described, shown, options, faults);
      if (connector !== undefined) connectors.push(connector);
    }
  } catch (error) {
    const { message } = toError(error);
    faults.push(error instanceof PlacedError ? `${shown}:${String(error.line)}: ${message}` : `${shown}: ${message}`);
  }
  return connectors;
}

/** An error at a known line of the file. */
class PlacedError extends ConfigError {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

function describe(text: string, isProperties: boolean): Described[] {
  return isProperties ? [describeProperties(text)] : describeDocuments(text);
}

function describeProperties(text: string): Described {
  const lines = text.split(/\r\n?|\n/);
  const firstLines = new Map<string, number>();
  for (const [index, line] of lines.entries()) {
    const [, key] = /^\s*([^#!\s:=][^\s:=]*)/.exec(line) ?? [];
    if (key === undefined || /(?<!\\)(?:\\\\)*\\$/.test(lines[index - 1] ?? '')) continue;
    if (firstLines.has(key)) throw new PlacedError(index + 1, `the key ${key} occurs twice in the file`);
    firstLines.set(key, index + 1);
  }
  const entries = Object.entries(parseProperties(text)).map(([key, value]) => {
    return { key, text: value, line: firstLines.get(key) ?? 1 };
  });
  return flat(entries, 1);
}

/** A flat map is the configuration itself, with its `name`. */
function flat(entries: readonly Entry[], line: number): Described {
  const name = entries.find(({ key }) => key === 'name');
  return { line, name, config: entries, state: undefined, initialState: undefined };
}

/** JSON files are parsed as YAML as well, so that the lines of values and the digits of numbers are known. */
function describeDocuments(text: string): Described[] {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const described: Described[] = [];
  for (const document of documents) {
    const [error] = document.errors;
    if (error !== undefined) throw new PlacedError(lines.linePos(error.pos[0]).line, error.message);
    if (document.contents === null || (isScalar(document.contents) && document.contents.value === null)) continue;
    const reader = new DocumentReader(document, lines);
    const one = reader.read();
    if (one !== undefined) described.push(one);
  }
  return described;
}

class DocumentReader {
  readonly #document: Document;
  readonly #lines: LineCounter;

  constructor(document: Document, lines: LineCounter) {
    this.#document = document;
    this.#lines = lines;
  }

  /** `undefined`: the document is a resource of Kubernetes other than a connector. */
  read(): Described | undefined {
    const root = this.#map(this.#document.contents, 'the document');
    const line = this.#line(root);
    if (root.has('apiVersion') && root.has('kind')) return this.#strimzi(root);
    const config = root.get('config', true);
    if (config === undefined) return flat(this.#entries(root), line);
    for (const { key } of root.items) {
      const text = this.#keyText(key);
      if (['name', 'config', 'state', 'initial_state'].includes(text)) continue;
      throw new PlacedError(
        this.#line(key),
        `${text} is unknown beside config: allowed are name, config, state, initial_state`,
      );
    }
    return {
      line,
      name: this.#entry(root, 'name'),
      config: this.#entries(this.#map(config, 'config')),
      state: this.#entry(root, 'state'),
      initialState: this.#entry(root, 'initial_state'),
    };
  }

  #strimzi(root: YAMLMap): Described | undefined {
    if (this.#entry(root, 'kind')?.text !== 'KafkaConnector') return undefined;
    const metadata = this.#map(root.get('metadata', true), 'metadata');
    const spec = this.#map(root.get('spec', true), 'spec');
    const config = spec.get('config', true);
    const renamed = (from: string, to: string): Entry[] => {
      const entry = this.#entry(spec, from);
      return entry === undefined ? [] : [{ ...entry, key: to }];
    };
    const paused = this.#entry(spec, 'pause');
    return {
      line: this.#line(root),
      name: this.#entry(metadata, 'name'),
      config: [
        ...renamed('class', 'connector.class'),
        ...renamed('tasksMax', 'tasks.max'),
        ...renamed('version', 'connector.plugin.version'),
        ...(config === undefined ? [] : this.#entries(this.#map(config, 'spec.config'))),
      ],
      state: this.#entry(spec, 'state') ?? (paused?.text === 'true' ? { ...paused, text: 'paused' } : undefined),
      initialState: undefined,
    };
  }

  #entry(map: YAMLMap, key: string): Entry | undefined {
    const node = map.get(key, true);
    if (node === undefined) return undefined;
    return { key, text: this.#text(key, node), line: this.#line(node) };
  }

  #entries(map: YAMLMap): Entry[] {
    return map.items.map(({ key, value }) => {
      const text = this.#keyText(key);
      const line = this.#line(value ?? key);
      return { key: text, text: this.#text(text, value, line), line };
    });
  }

  /** A text, number or boolean as it is written; a list of them joined with commas. */
  #text(key: string, value: unknown, line = this.#line(value)): string {
    const node = this.#resolved(value);
    if (isSeq(node)) return node.items.map((item) => this.#text(key, item, line)).join(',');
    if (isScalar(node)) {
      if (typeof node.value === 'string') return node.value;
      if (typeof node.value === 'number' || typeof node.value === 'boolean' || typeof node.value === 'bigint') {
        return node.source ?? String(node.value);
      }
    }
    throw new PlacedError(line, `${key} must be a text, a number, a boolean or a list of them; '' is an empty text`);
  }

  #map(value: unknown, what: string): YAMLMap {
    const node = this.#resolved(value);
    if (isMap(node)) return node;
    throw new PlacedError(this.#line(value), `${what} must be an object`);
  }

  #resolved(value: unknown): unknown {
    return isAlias(value) ? value.resolve(this.#document) : value;
  }

  #keyText(key: unknown): string {
    const node = this.#resolved(key);
    if (isScalar(node)) return typeof node.value === 'string' ? node.value : (node.source ?? String(node.value));
    throw new PlacedError(this.#line(key), 'a key must be a text');
  }

  #line(node: unknown): number {
    const { range } = (node ?? {}) as Partial<Node>;
    return range === undefined || range === null ? 1 : this.#lines.linePos(range[0]).line;
  }
}

function desired(
  described: Described,
  shown: string,
  { variables, learn }: ReadOptions,
  faults: string[],
): DesiredConnector | undefined {
  const before = faults.length;
  const place = `${shown}:${String(described.line)}`;
  const value = (entry: Entry): string => {
    try {
      return replaceFileVariables(entry.text, variables, learn);
    } catch (error) {
      faults.push(`${shown}:${String(entry.line)}: ${toError(error).message}`);
      return '';
    }
  };
  const state = (entry: Entry | undefined): DesiredState | undefined => {
    if (entry === undefined) return undefined;
    const text = value(entry).toLowerCase();
    const known = STATES.find((name) => name === text);
    if (known === undefined) {
      faults.push(`${shown}:${String(entry.line)}: ${entry.key} ${text} is not one of running, paused, stopped`);
    }
    return known;
  };
  const config: Record<string, string> = {};
  for (const entry of described.config) {
    if (Object.hasOwn(config, entry.key)) {
      faults.push(`${shown}:${String(entry.line)}: the key ${entry.key} occurs twice`);
    }
    config[entry.key] = value(entry);
  }
  const name = described.name === undefined ? config['name'] : value(described.name);
  if (name === undefined || name === '') faults.push(`${place}: the connector has no name`);
  else if (config['name'] !== undefined && config['name'] !== name) {
    faults.push(`${place}: the name ${name} differs from the name ${config['name']} in config`);
  }
  const states = { state: state(described.state), initialState: state(described.initialState) };
  if (faults.length > before || name === undefined) return undefined;
  return { name, config: { ...config, name }, ...states, place };
}
