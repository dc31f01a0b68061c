import { doubleText } from '../java/java-number-text.ts';
import type { OptionType } from './option.ts';
import { Password } from './password.ts';

const HIDDEN = new Password('').toString();

/** The password in URLs such as `https://user:password@host`. */
const URL_PASSWORD = /(:\/\/[^/\s:@]*:)[^/\s]+(?=@)/g;

/**
 * A parsed option value as shown in responses and tables (ConfigDef.convertToString): lists are joined with commas, classes shown
 * by name, passwords (also in URLs) as `[hidden]`. Returns `null` if there is no value.
 */
export function optionText(value: unknown, type: OptionType): string | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return value.map((entry) => valueText(entry)).join(',');
  if (type === 'PASSWORD') return HIDDEN;
  return valueText(value, type);
}

/**
 * A value in a message, as Java's string concatenation prints it: `null`, `[a, b]`, `[hidden]`, `2.0`.
 * @internal
 */
export function valueText(value: unknown, type?: OptionType): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return `[${value.map((entry) => valueText(entry)).join(', ')}]`;
  if (type === 'DOUBLE' && typeof value === 'number') return doubleText(value);
  if (typeof value === 'string') return value.includes('@') ? value.replace(URL_PASSWORD, `$1${HIDDEN}`) : value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  return value instanceof Password ? HIDDEN : JSON.stringify(value);
}

/** `Invalid value V for configuration K: reason` (ConfigException). */
export function invalidValueText(name: string, value: unknown, reason: string, type?: OptionType): string {
  return `Invalid value ${valueText(value, type)} for configuration ${name}: ${reason}`;
}
