import { SluiceError } from '../../errors.ts';
import { JsonNumber, JsonScanner, type JsonTree } from '../../json/json-tree.ts';
import type { ReferencedSchema } from '../schema-registry/registry-client.ts';

export type JsonObject = ReadonlyMap<string, JsonTree>;

/** A JSON schema is invalid, or Connect has no equivalent for it. */
export class JsonSchemaError extends SluiceError {
  constructor(message: string) {
    super(message, { scope: 'record', javaName: 'org.everit.json.schema.SchemaException' });
  }
}

/** Parses JSON without losing digits of numbers. */
export function parseJson(text: string): JsonTree {
  return new JsonScanner(text, (number, integral) => new JsonNumber(number, integral)).readFirst() ?? null;
}

/** A schema inside a document. References in the schema are resolved in that document. */
export interface SchemaNode {
  readonly json: JsonObject;
  readonly document: JsonSchemaDocument;
}

/** A parsed JSON schema, with the registered schemas that it references by name. */
export class JsonSchemaDocument {
  readonly root: JsonTree;
  readonly #references: readonly ReferencedSchema[];
  readonly #documents = new Map<string, JsonSchemaDocument>();

  constructor(text: string, references: readonly ReferencedSchema[]) {
    this.root = parseJson(text);
    this.#references = references;
  }

  /** Resolves a `$ref` in this document or in a referenced document. Throws a JsonSchemaError if there is no such schema. */
  find(reference: string): SchemaNode {
    const [name = '', fragment = ''] = reference.split('#', 2);
    const document = name === '' || name === this.#id() ? this : this.#document(name);
    if (document !== undefined) return document.#at(fragment, reference);
    const inner = findId(this.root, reference);
    if (inner === undefined) throw new JsonSchemaError(`The reference ${reference} cannot be resolved`);
    return { json: inner, document: this };
  }

  #id(): string | undefined {
    const id = this.root instanceof Map ? (this.root.get('$id') ?? this.root.get('id')) : undefined;
    return typeof id === 'string' ? id.split('#', 1)[0] : undefined;
  }

  #document(name: string): JsonSchemaDocument | undefined {
    let document = this.#documents.get(name);
    const found = this.#references.find((reference) => reference.name === name || endsWithPath(name, reference.name));
    if (document === undefined && found !== undefined) {
      document = new JsonSchemaDocument(found.text, found.references);
      this.#documents.set(name, document);
    }
    return document;
  }

  #at(fragment: string, reference: string): SchemaNode {
    let json: JsonTree | JsonObject | undefined = this.root;
    if (fragment !== '' && !fragment.startsWith('/')) json = findId(this.root, `#${fragment}`);
    else for (const part of fragment.split('/').slice(1)) json = child(json, decodePart(part));
    if (json instanceof Map) return { json, document: this };
    throw new JsonSchemaError(`The reference ${reference} cannot be resolved`);
  }
}

/** A schema with the URL `http://example.com/a.json` may be registered as `a.json`. */
function endsWithPath(url: string, name: string): boolean {
  return url.endsWith(`/${name}`);
}

function child(json: JsonTree | JsonObject | undefined, name: string): JsonTree | undefined {
  if (json instanceof Map) return json.get(name);
  return Array.isArray(json) ? json[Number(name)] : undefined;
}

/** Decodes a segment of a JSON pointer in a URL. */
function decodePart(part: string): string {
  return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
}

function findId(json: JsonTree, id: string): JsonObject | undefined {
  if (Array.isArray(json)) return first(json, id);
  if (!(json instanceof Map)) return undefined;
  const anchor = json.get('$anchor');
  if (json.get('$id') === id || json.get('id') === id || (typeof anchor === 'string' && `#${anchor}` === id))
    return json;
  return first([...json.values()], id);
}

function first(entries: readonly JsonTree[], id: string): JsonObject | undefined {
  for (const entry of entries) {
    const found = findId(entry, id);
    if (found !== undefined) return found;
  }
  return undefined;
}
