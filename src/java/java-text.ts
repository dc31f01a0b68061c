import { doubleText, floatText } from './java-number-text.ts';
import type { Schema, SchemaType } from '../data/schema.ts';
import { Decimal, Struct, TypedNumber, type ConnectValue } from '../data/value.ts';

/** `String.trim`: removes characters up to U+0020 at both ends, and no other blanks (a no-break space stays). */
export function javaTrim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) <= 32) start++;
  while (end > start && text.charCodeAt(end - 1) <= 32) end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

/** `String.split` by one character: trailing empty parts are removed, unless the text has no separator. */
export function javaSplit(text: string, separator: string): string[] {
  const parts = text.split(separator);
  if (parts.length === 1) return parts;
  while (parts.at(-1) === '') parts.pop();
  return parts;
}

/** `BigDecimal.toString`: plain digits, or one digit before the point and an exponent (`1E+3`, `0E-8`). */
export function decimalText(decimal: Decimal): string {
  const { unscaled, scale } = decimal;
  if (scale === 0) return unscaled.toString();
  const negative = unscaled < 0n;
  const digits = (negative ? -unscaled : unscaled).toString();
  const exponent = digits.length - 1 - scale;
  if (scale > 0 && exponent >= -6) return decimal.toPlainString();
  const mantissa = digits.length === 1 ? digits : `${digits.charAt(0)}.${digits.slice(1)}`;
  const power = exponent === 0 ? '' : `E${exponent > 0 ? '+' : ''}${String(exponent)}`;
  return `${negative ? '-' : ''}${mantissa}${power}`;
}

/**
 * The text of a Connect value as Java's `toString` and StringConverter print it: `[a, 1]`, `{k=v}`, `Struct{a=1}`, `12.50`.
 * Unlike in Java, bytes are Base64.
 * @param schema determines the width of numbers; without it a number is a double (`7` becomes `7.0`)
 */
export function javaText(value: ConnectValue, schema?: Schema | null): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return numberText(value, schema?.type ?? 'float64');
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value instanceof TypedNumber) return numberText(value.value, value.type);
  if (value instanceof Decimal) return decimalText(value);
  if (value instanceof Date) return javaDateText(value);
  if (value instanceof Uint8Array) return bytesText(value);
  if (value instanceof Struct) return structText(value);
  const element = schema?.valueSchema;
  if (value instanceof Map) {
    const entries = [...(value as ReadonlyMap<ConnectValue, ConnectValue>)];
    return `{${entries.map(([key, entry]) => `${javaText(key, schema?.keySchema)}=${javaText(entry, element)}`).join(', ')}}`;
  }
  return `[${(value as readonly ConnectValue[]).map((entry) => javaText(entry, element)).join(', ')}]`;
}

function numberText(value: number, type: SchemaType): string {
  if (type === 'float32') return floatText(value);
  return type === 'int8' || type === 'int16' || type === 'int32' ? String(value) : doubleText(value);
}

/** Java prints only the type and the identity hash of a byte array (`[B@1b6d3586`). Base64 is printed instead. */
function bytesText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `java.util.Date.toString` in UTC: `Thu Jan 02 03:04:05 UTC 2020`. */
function javaDateText(date: Date): string {
  const two = (number: number) => String(number).padStart(2, '0');
  const time = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
  const day = `${DAYS[date.getUTCDay()] ?? ''} ${MONTHS[date.getUTCMonth()] ?? ''} ${two(date.getUTCDate())}`;
  return `${day} ${time} UTC ${String(date.getUTCFullYear())}`;
}

/** The text of a struct. Fields that are null are omitted. */
function structText(struct: Struct): string {
  const fields = struct.schema.fields.flatMap((field) => {
    const value = struct.values[field.index] ?? null;
    return value === null ? [] : [`${field.name}=${javaText(value, field.schema)}`];
  });
  return `Struct{${fields.join(',')}}`;
}
