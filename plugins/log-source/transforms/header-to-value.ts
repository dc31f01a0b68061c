import {
  ConfigError,
  DataError,
  declareOptions,
  javaClassOf,
  parseOptions,
  PLAN,
  Schema,
  Struct,
  type ConnectRecord,
  type ConnectValue,
} from '../../../src/index.ts';
import { rememberedFor, withOptions } from './change-event.ts';
import { debeziumTransform } from './declaration.ts';
import { choiceOf, listOfNames } from './validators.ts';

const options = declareOptions({
  headers: {
    type: 'LIST',
    importance: 'HIGH',
    documentation: 'Headers whose values become fields.',
    validator: listOfNames({ spacesAllowed: false }),
  },
  fields: {
    type: 'LIST',
    importance: 'HIGH',
    documentation: 'Names of the fields, in the order of `headers`. A dot leads into a struct: `after.trace`.',
    validator: listOfNames({ spacesAllowed: false }),
  },
  operation: {
    type: 'STRING',
    importance: 'HIGH',
    documentation: 'Whether the headers stay (`copy`) or not (`move`).',
    validator: choiceOf('move', 'copy'),
  },
});

/** A header that becomes a field; `path`: the names of the nested structs and of the field. */
interface NewField {
  readonly path: readonly string[];
  readonly schema: Schema;
  readonly value: ConnectValue;
}

/** An extended schema, and the new fields for which it was made. */
interface Extension {
  readonly fields: readonly NewField[];
  readonly schema: Schema;
}

/** Maximum number of extensions that are cached for one schema. */
const MAX_EXTENSIONS = 64;

/** `io.debezium.transforms.HeaderToValue`: copies or moves headers to fields of the value. */
export const headerToValue = debeziumTransform('HeaderToValue', options, (config) => {
  const { headers, fields, operation } = parseOptions(options, config, { errors: 'first' });
  if (headers.length !== fields.length) {
    throw new ConfigError("'fields' config must have the same number of elements as 'headers' config.");
  }
  const paths = new Map(headers.map((header, index) => [header, (fields[index] ?? header).split('.')]));
  const extensionsOf = rememberedFor((): Extension[] => []);

  const extendedFor = (schema: Schema, added: readonly NewField[]): Schema => {
    const known = extensionsOf(schema);
    const found = known.find((extension) => sameFields(extension.fields, added));
    if (found !== undefined) return found.schema;
    const extension = { fields: added, schema: extended(schema, added) };
    if (known.length >= MAX_EXTENSIONS) known.length = 0;
    known.push(extension);
    return extension.schema;
  };

  return {
    apply<R extends ConnectRecord>(record: R): R {
      const { value } = record;
      if (value === null) return record;
      if (!(value instanceof Struct)) {
        throw new DataError(
          `Only Struct objects supported for [Header field insertion], found: ${javaClassOf(value, record.valueSchema)}`,
        );
      }
      const added = record.headers.flatMap((header): NewField[] => {
        const path = paths.get(header.key);
        if (path === undefined) return [];
        if (header.schema === null) throw new DataError(`The header ${header.key} has no schema`);
        return [{ path, schema: header.schema, value: header.value }];
      });
      if (added.length === 0) return record;
      const schema = extendedFor(value.schema, added);
      const kept = operation === 'move' ? record.headers.filter(({ key }) => !paths.has(key)) : record.headers;
      return { ...record, valueSchema: schema, value: filled(value, schema, added), headers: kept };
    },
    /**
     * Plans only records without these headers, which stay unchanged. A record with such a header cannot be planned, because the
     * schema of the header is known only when the record arrives.
     */
    [PLAN](plan) {
      const names = plan.headerNames;
      return plan.value.schema.type === 'struct' && names?.some((name) => paths.has(name)) === false;
    },
  };
});

function sameFields(left: readonly NewField[], right: readonly NewField[]): boolean {
  return (
    left.length === right.length &&
    left.every(({ path, schema }, index) => path === right[index]?.path && schema === right[index].schema)
  );
}

/** Adds new fields to a schema. If a path leads through a missing struct, an optional struct is added. */
function extended(schema: Schema, added: readonly NewField[]): Schema {
  const inner = innerFields(added);
  const kept = schema.fields.map(({ name, schema: own }) => {
    const fields = inner.get(name);
    if (fields === undefined) return { name, schema: own };
    if (own.type !== 'struct') {
      const [field] = fields;
      const path = [name, ...(field?.path ?? [])].join('.');
      throw new DataError(`Field '${name}' is a primitive type, not a struct. Cannot add nested field '${path}'.`);
    }
    return { name, schema: extended(own, fields) };
  });
  const names = new Set(kept.map(({ name }) => name));
  const more = new Map<string, Schema>();
  for (const { path, schema: own } of added) {
    const [name = '', ...rest] = path;
    if (rest.length === 0 && !names.has(name) && !more.has(name)) more.set(name, own);
  }
  for (const [name, fields] of inner) {
    if (!names.has(name)) more.set(name, extended(new Schema('struct', { optional: true }), fields));
  }
  return withOptions(schema, {}, [...kept, ...[...more].map(([name, own]) => ({ name, schema: own }))]);
}

/** Copies the struct and sets the new fields. A nested struct that is null stays null. */
function filled(value: Struct, schema: Schema, added: readonly NewField[]): Struct {
  const inner = innerFields(added);
  const result = new Struct(schema);
  for (const { name } of value.schema.fields) {
    const own = value.get(name);
    const fields = inner.get(name);
    const field = schema.field(name);
    result.put(name, fields && field && own instanceof Struct ? filled(own, field.schema, fields) : own);
  }
  for (const [name, fields] of inner) {
    const field = schema.field(name);
    if (field === undefined || value.schema.field(name) !== undefined) continue;
    result.put(name, filled(new Struct(new Schema('struct')), field.schema, fields));
  }
  for (const { path, value: own } of added) {
    const [name = '', ...rest] = path;
    if (rest.length === 0) result.put(name, own);
  }
  return result;
}

/** Groups the new fields that belong to nested structs by the name of the struct's field. */
function innerFields(added: readonly NewField[]): ReadonlyMap<string, readonly NewField[]> {
  const inner = new Map<string, NewField[]>();
  for (const { path, schema, value } of added) {
    const [name = '', ...rest] = path;
    if (rest.length === 0) continue;
    const field = { path: rest, schema, value };
    const fields = inner.get(name);
    if (fields === undefined) inner.set(name, [field]);
    else fields.push(field);
  }
  return inner;
}
