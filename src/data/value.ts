import type { Schema } from './schema.ts';

/**
 * How Connect's values are represented in JavaScript.
 *
 * | Connect | JavaScript |
 * |---|---|
 * | int8, int16, int32 (with a schema), float32, float64 | number |
 * | int64 | bigint, always, because a number cannot represent 64 bits |
 * | boolean, string | boolean, string |
 * | bytes | Uint8Array |
 * | array, map, struct | array, Map, Struct |
 * | Decimal | Decimal |
 * | Date, Time, Timestamp | Date (UTC milliseconds, as java.util.Date) |
 * | schemaless | bigint is a Long, number a Double, Map and array as above; other Java widths are TypedNumber |
 */
export type ConnectValue =
  | null
  | boolean
  | string
  | number
  | bigint
  | Uint8Array
  | Date
  | Decimal
  | TypedNumber
  | Struct
  | readonly ConnectValue[]
  | ReadonlyMap<ConnectValue, ConnectValue>;

/** A number without a schema whose Java type is neither `double` nor `long`. */
export class TypedNumber {
  readonly type: 'int8' | 'int16' | 'int32' | 'float32';
  readonly value: number;

  constructor(type: TypedNumber['type'], value: number) {
    this.type = type;
    this.value = value;
  }
}

/** java.math.BigDecimal: `unscaled * 10^-scale`. */
export class Decimal {
  readonly unscaled: bigint;
  readonly scale: number;

  constructor(unscaled: bigint, scale: number) {
    this.unscaled = unscaled;
    this.scale = scale;
  }

  /** Returns the decimal digits without an exponent (BigDecimal.toPlainString). */
  toPlainString(): string {
    if (this.scale <= 0) return this.unscaled === 0n ? '0' : this.unscaled.toString() + '0'.repeat(-this.scale);
    const negative = this.unscaled < 0n;
    const digits = (negative ? -this.unscaled : this.unscaled).toString().padStart(this.scale + 1, '0');
    const point = digits.length - this.scale;
    return `${negative ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`;
  }
}

/**
 * A struct: one value for each field of its schema, in the order of the schema; `null` for fields that were not set.
 */
export class Struct {
  readonly schema: Schema;
  readonly values: ConnectValue[];

  constructor(schema: Schema, values?: ConnectValue[]) {
    this.schema = schema;
    this.values = values ?? new Array<ConnectValue>(schema.fields.length).fill(null);
  }

  /** Returns the value of a field; `null` if it was not set. Throws an Error if the schema has no such field. */
  get(name: string): ConnectValue {
    return this.values[this.#index(name)] ?? null;
  }

  /** Sets a field. The value is not compared with the schema. Throws an Error if the schema has no such field. */
  put(name: string, value: ConnectValue): this {
    this.values[this.#index(name)] = value;
    return this;
  }

  #index(name: string): number {
    const field = this.schema.field(name);
    if (field === undefined) throw new Error(`${name} is not a valid field name`);
    return field.index;
  }
}
