import { javaClassOf } from '../../data/java-class.ts';
import { TypedNumber, type ConnectValue } from '../../data/value.ts';
import { DataError } from '../../errors.ts';
import { asBuffer } from '../../json/json-bytes.ts';
import { NAMESPACE } from './avro-names.ts';
import type { AvroSchema } from './avro-schema.ts';

/** Schemaless data is a record with one field per type; at most one field is set (AvroData.ANYTHING_SCHEMA). */

const FIELDS = ['boolean', 'bytes', 'double', 'float', 'int', 'long', 'string', 'array', 'map'] as const;
type Field = (typeof FIELDS)[number];
type Anything = Record<Field, Record<string, unknown> | null>;

export function isAnything(schema: AvroSchema): boolean {
  return schema.type === 'record' && schema.fullName === `${NAMESPACE}.Anything`;
}

/** Converts a schemaless value to the record that the codec encodes. In the record of a null, no field is set. */
export function anythingOf(value: ConnectValue): Anything {
  if (value === null) return anything();
  if (typeof value === 'boolean') return anything('boolean', value);
  if (typeof value === 'string') return anything('string', value);
  if (typeof value === 'bigint') return anything('long', value);
  if (typeof value === 'number') return anything('double', value);
  if (value instanceof TypedNumber) return anything(value.type === 'float32' ? 'float' : 'int', value.value);
  if (value instanceof Uint8Array) return anything('bytes', asBuffer(value));
  if (Array.isArray(value)) return anything('array', (value as readonly ConnectValue[]).map(anythingOf));
  if (value instanceof Map) {
    const entries = [...(value as ReadonlyMap<ConnectValue, ConnectValue>)];
    return anything(
      'map',
      entries.map(([key, each]) => ({ key: anythingOf(key), value: anythingOf(each) })),
    );
  }
  throw new DataError(`Unknown Java type for schemaless data: class ${javaClassOf(value)}`);
}

function anything(field?: Field, content?: unknown): Anything {
  const record = Object.fromEntries(FIELDS.map((name) => [name, null])) as Anything;
  if (field !== undefined) record[field] = { [memberOf(field)]: content };
  return record;
}

/** Converts a decoded record to the value that its set field contains. */
export function anythingToConnect(decoded: unknown): ConnectValue {
  const record = decoded as Anything;
  const field = FIELDS.find((name) => record[name] !== null);
  if (field === undefined) return null;
  const content = record[field]?.[memberOf(field)];
  switch (field) {
    case 'int':
      return new TypedNumber('int32', content as number);
    case 'float':
      return new TypedNumber('float32', content as number);
    case 'array':
      return (content as unknown[]).map(anythingToConnect);
    case 'map':
      return new Map(
        (content as { key: unknown; value: unknown }[]).map(({ key, value }) => [
          anythingToConnect(key),
          anythingToConnect(value),
        ]),
      );
    default:
      return content as ConnectValue;
  }
}

/** Name of the union member that holds the content of a field. A map is encoded as an array of entries. */
function memberOf(field: Field): string {
  return field === 'map' ? 'array' : field;
}
