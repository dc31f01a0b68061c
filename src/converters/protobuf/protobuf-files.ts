import { SluiceError, toError } from '../../errors.ts';
import { loadOptional } from '../schema-registry/optional-package.ts';
import type { ReferencedSchema } from '../schema-registry/registry-client.ts';
import { lookupTable } from '../../data/lookup-table.ts';

export type Protobuf = typeof import('protobufjs');
export type Root = import('protobufjs').Root;
export type MessageType = import('protobufjs').Type;
export type MessageField = import('protobufjs').Field;
export type EnumType = import('protobufjs').Enum;

/** A text is not a valid Protobuf schema, or a schema needs a name that Protobuf forbids. */
export class ProtobufSchemaError extends SluiceError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { ...options, scope: 'record', javaName: 'com.squareup.wire.schema.SchemaException' });
  }
}

/** A parsed file whose imports are resolved. */
export interface ProtobufFile {
  /** Messages of the file itself, without imports, in order of declaration: a message is identified by its position. */
  readonly messages: readonly MessageType[];
}

let library: Protobuf | undefined;

/** Loads the optional package when the first converter needs it. */
export function loadProtobuf(): Protobuf {
  return (library ??= loadOptional('protobufjs', 'ProtobufConverter') as Protobuf);
}

/** Files that schemas may import without a reference in the registry, in addition to those of the library. */
const KNOWN_TEXTS: Readonly<Record<string, string>> = lookupTable({
  'confluent/meta.proto': `syntax = "proto3"; package confluent;
    import "google/protobuf/descriptor.proto";
    message Meta { string doc = 1; map<string, string> params = 2; repeated string tags = 3; }
    extend google.protobuf.FileOptions { Meta file_meta = 1088; }
    extend google.protobuf.MessageOptions { Meta message_meta = 1088; }
    extend google.protobuf.FieldOptions { Meta field_meta = 1088; }
    extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }
    extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }`,
  'confluent/type/decimal.proto': `syntax = "proto3"; package confluent.type;
    message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }`,
  'google/type/date.proto': `syntax = "proto3"; package google.type;
    message Date { int32 year = 1; int32 month = 2; int32 day = 3; }`,
  'google/type/timeofday.proto': `syntax = "proto3"; package google.type;
    message TimeOfDay { int32 hours = 1; int32 minutes = 2; int32 seconds = 3; int32 nanos = 4; }`,
});

/**
 * Parses a file and its imports, which are references or well-known files. Throws a ProtobufSchemaError if a file is
 * invalid.
 */
export function parseProtobuf(text: string, references: readonly ReferencedSchema[]): ProtobufFile {
  const { Root: RootType, Type } = loadProtobuf();
  const parsing = new ProtobufParsing();
  try {
    parsing.read(text, references);
    parsing.root.resolveAll();
    // An import may have the same package, so the file is also parsed on its own to find its own messages and their order.
    const alone = new RootType();
    const { package: packageName } = parse(text, alone);
    const own = packageName === undefined ? alone : alone.lookup(packageName);
    const named = own === null || !('nestedArray' in own) ? [] : own.nestedArray;
    const messages = named.filter((each): each is MessageType => each instanceof Type);
    return { messages: messages.map(({ fullName }) => parsing.root.lookupType(fullName)) };
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    throw new ProtobufSchemaError(`The Protobuf schema cannot be read: ${toError(error).message}`, { cause: error });
  }
}

function parse(text: string, root: Root) {
  requireShortBlocks(text);
  return loadProtobuf().parse(text, root, { keepCase: true });
}

/**
 * Limit of the statements in a block. The library compares each field of a message with all earlier ones, so the time
 * grows with the square of their number.
 */
const MAX_STATEMENTS = 3000;

/**
 * Throws a ProtobufSchemaError if the file or a block in braces has too many statements. Braces and semicolons in
 * comments and strings also count.
 */
function requireShortBlocks(text: string): void {
  const outer: number[] = [];
  let statements = 0;
  for (const sign of text) {
    if (sign === '{') outer.push(statements);
    if (sign === '{') statements = 0;
    else if (sign === '}') statements = outer.pop() ?? 0;
    else if (sign === ';' && ++statements > MAX_STATEMENTS) {
      throw new ProtobufSchemaError(`The Protobuf schema has a message of more than ${String(MAX_STATEMENTS)} fields`);
    }
  }
}

class ProtobufParsing {
  readonly root: Root = new (loadProtobuf().Root)();
  readonly #read = new Set<string>();

  read(text: string, references: readonly ReferencedSchema[]): void {
    const { imports, weakImports } = parse(text, this.root);
    for (const file of [...(imports ?? []), ...(weakImports ?? [])]) this.#import(file, references);
    // References that the file does not import by name are included as well, because another reference may import them.
    for (const reference of references) this.#include(reference);
  }

  #import(file: string, references: readonly ReferencedSchema[]): void {
    const reference = references.find(({ name }) => name === file);
    if (reference !== undefined) {
      this.#include(reference);
      return;
    }
    if (this.#read.has(file)) return;
    this.#read.add(file);
    const known = Object.hasOwn(KNOWN_TEXTS, file) ? KNOWN_TEXTS[file] : undefined;
    if (known !== undefined) this.read(known, []);
    else this.#importFromLibrary(file);
  }

  #include({ name, text, references }: ReferencedSchema): void {
    if (this.#read.has(name)) return;
    this.#read.add(name);
    this.read(text, references);
  }

  /** Imports a file of the library, such as google/protobuf/timestamp.proto. For an unknown file, only the use of one of its types fails. */
  #importFromLibrary(file: string): void {
    const { common } = loadProtobuf();
    const definition = common.get(file) ?? shippedDefinition(file);
    if (definition?.nested !== undefined) this.root.addJSON(definition.nested);
  }
}

type Definition = import('protobufjs').INamespace;

function shippedDefinition(file: string): Definition | undefined {
  if (!/^google\/(protobuf|api)\/[a-z_]+\.proto$/.test(file)) return undefined;
  try {
    return loadOptional(`protobufjs/${file.replace(/\.proto$/, '.json')}`, file) as Definition;
  } catch {
    return undefined;
  }
}
