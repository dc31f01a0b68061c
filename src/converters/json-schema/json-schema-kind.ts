import { JsonNumber, type JsonTree } from '../../json/json-tree.ts';
import { JsonSchemaError, type JsonObject, type SchemaNode } from './json-schema-document.ts';

/** The kind of a schema. A schema of more than one kind is a combination of all of them. */
export type SchemaKind =
  | { readonly kind: 'boolean' | 'integer' | 'number' | 'string' | 'null'; readonly node: SchemaNode }
  | { readonly kind: 'array' | 'object'; readonly node: SchemaNode }
  | { readonly kind: 'enum'; readonly node: SchemaNode; readonly symbols: readonly JsonTree[] }
  | { readonly kind: 'const'; readonly node: SchemaNode }
  | { readonly kind: 'reference'; readonly node: SchemaNode; readonly reference: string }
  | CombinedKind<'one'>
  | CombinedKind<'all'>;

interface CombinedKind<K> {
  readonly kind: K;
  readonly node: SchemaNode;
  readonly parts: readonly SchemaKind[];
}

const OBJECT_KEYWORDS = [
  'properties',
  'additionalProperties',
  'required',
  'patternProperties',
  'minProperties',
  'maxProperties',
];
const ARRAY_KEYWORDS = ['items', 'minItems', 'maxItems', 'uniqueItems', 'prefixItems'];
const STRING_KEYWORDS = ['minLength', 'maxLength', 'pattern', 'format'];
const NUMBER_KEYWORDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];

/** Determines the kind of a schema. Throws for an empty or invalid schema. */
export function kindOf(node: SchemaNode): SchemaKind {
  const reference = node.json.get('$ref');
  // JSON Schema ignores keywords next to a reference.
  if (typeof reference === 'string') return { kind: 'reference', node, reference };
  const parts = [...combinedParts(node), ...plainParts(node)];
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  if (parts.length > 1) return { kind: 'all', node, parts };
  throw new JsonSchemaError('Unsupported schema type: a schema that allows any value does not specify a type');
}

/** Whether a schema allows any value and therefore does not specify a type. */
export function isUntyped({ json, document }: SchemaNode): boolean {
  const isReference = typeof json.get('$ref') === 'string';
  return !isReference && [...combinedParts({ json, document }), ...plainParts({ json, document })].length === 0;
}

/** A schema nested in another one. If it is not an object, throws a JsonSchemaError that calls it `what`. */
export function nodeIn(json: JsonTree | undefined, { document }: SchemaNode, what: string): SchemaNode {
  if (json instanceof Map) return { json, document };
  throw new JsonSchemaError(`Unsupported schema type: ${what} is not a schema that specifies a type`);
}

function combinedParts(node: SchemaNode): SchemaKind[] {
  const listed = (word: string) => {
    const list = node.json.get(word);
    return Array.isArray(list) ? list : undefined;
  };
  const result: SchemaKind[] = [];
  for (const word of ['oneOf', 'anyOf', 'allOf']) {
    const parts = listed(word)?.map((each) => kindOf(nodeIn(each, node, word)));
    if (parts === undefined) continue;
    result.push(word === 'allOf' ? { kind: 'all', node, parts } : { kind: 'one', node, parts });
  }
  return result;
}

function plainParts(node: SchemaNode): SchemaKind[] {
  const { json } = node;
  const result: SchemaKind[] = [];
  const symbols = json.get('enum');
  if (Array.isArray(symbols)) result.push({ kind: 'enum', node, symbols });
  if (json.has('const')) result.push({ kind: 'const', node });
  const type = json.get('type');
  if (typeof type === 'string') result.push(typed(type, node));
  else if (Array.isArray(type)) result.push(anyOf(type, node));
  else result.push(...implied(node, result.length > 0));
  return result;
}

/** The kind of a schema with several types, such as `"type": ["null", "string"]`. */
function anyOf(types: readonly JsonTree[], node: SchemaNode): SchemaKind {
  const parts = types.map((type) => typed(typeof type === 'string' ? type : '', node));
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? only : { kind: 'one', node, parts };
}

function typed(type: string, node: SchemaNode): SchemaKind {
  switch (type) {
    case 'boolean':
    case 'integer':
    case 'number':
    case 'string':
    case 'null':
    case 'array':
    case 'object':
      return { kind: type, node };
    default:
      throw new JsonSchemaError(`Unknown type ${type} in a schema`);
  }
}

/** Infers the type of a schema without the keyword `type` from its other keywords. */
function implied(node: SchemaNode, isKnown: boolean): SchemaKind[] {
  const has = (words: readonly string[]) => words.some((word) => node.json.has(word));
  if (has(OBJECT_KEYWORDS)) return [{ kind: 'object', node }];
  if (has(ARRAY_KEYWORDS)) return [{ kind: 'array', node }];
  if (isKnown) return [];
  if (has(NUMBER_KEYWORDS)) return [{ kind: 'number', node }];
  return has(STRING_KEYWORDS) ? [{ kind: 'string', node }] : [];
}

export function textOf(json: JsonObject, word: string): string | undefined {
  const value = json.get(word);
  return typeof value === 'string' ? value : undefined;
}

export function integerOf(json: JsonObject, word: string): number | undefined {
  const value = json.get(word);
  return value instanceof JsonNumber && value.integral ? Number(value.text) : undefined;
}
