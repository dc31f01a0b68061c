import { invalidValueText } from '../config/to-text.ts';
import { javaHashMapOrder } from '../java/java-hash-order.ts';
import { javaSplit, javaTrim } from '../java/java-text.ts';
import type { SchemaType } from '../data/schema.ts';
import { ConfigError } from '../errors.ts';

const CAST_TYPES = ['int8', 'int16', 'int32', 'int64', 'float32', 'float64', 'boolean', 'string'] as const;
export type CastType = (typeof CAST_TYPES)[number];

const OTHER_TYPES: readonly SchemaType[] = ['bytes', 'array', 'map', 'struct'];

export interface CastSpec {
  /** Set when the whole key or value is cast; `fields` is empty then. */
  readonly whole: CastType | undefined;
  readonly fields: ReadonlyMap<string, CastType>;
}

/** Parses the option `spec` of Cast. Throws a ConfigError with Connect's message. */
export function castSpec(entries: readonly string[] | null): CastSpec {
  if (entries === null || entries.length === 0) throw new ConfigError('Must specify at least one field to cast.');
  const fields = new Map<string, CastType>();
  let whole: CastType | undefined;
  for (const entry of entries) {
    const [first, second, ...more] = javaSplit(entry, ':');
    if (first === undefined || more.length > 0) {
      throw new ConfigError(invalidValueText('renames', entries, `Invalid rename mapping: ${entry}`));
    }
    if (second === undefined) whole = castType(javaTrim(first));
    else fields.set(javaTrim(first), castType(javaTrim(second)));
  }
  if (whole !== undefined && entries.length > 1) {
    throw new ConfigError(
      'Cast transformations that specify a type to cast the entire value to may only specify a single cast in their spec',
    );
  }
  // For records without a schema, Java casts the fields in the order of its HashMap. If several fields cannot be cast,
  // the order determines which of them causes the error.
  return {
    whole,
    fields: new Map(javaHashMapOrder([...fields.keys()]).map((name) => [name, fields.get(name) ?? 'string'])),
  };
}

function castType(name: string): CastType {
  const lower = name.toLowerCase();
  const type = CAST_TYPES.find((each) => each === lower);
  if (type !== undefined) return type;
  const upper = name.toUpperCase();
  if (OTHER_TYPES.some((each) => each === lower)) {
    throw new ConfigError(
      `Cast transformation does not support casting to ${upper}; supported types are ${typeList(CAST_TYPES)}`,
    );
  }
  const unknown = `java.lang.IllegalArgumentException: No enum constant org.apache.kafka.connect.data.Schema.Type.${upper}`;
  throw new ConfigError(`Invalid value ${unknown} for configuration Invalid type found in casting spec: ${name}`);
}

function typeList(types: readonly string[]): string {
  return `[${types.map((type) => type.toUpperCase()).join(', ')}]`;
}

/** Types that can be cast: `[INT8, …, BYTES]`. */
export const CAST_SOURCES_TEXT = typeList([...CAST_TYPES, 'bytes']);
