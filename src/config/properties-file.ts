import { readFile } from 'node:fs/promises';
import { parseLines } from 'dot-properties';
import { ConfigError, toError } from '../errors.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true });
const LATIN1 = new TextDecoder('latin1');

/**
 * Reads a worker or connector file: Java `.properties`, or a flat JSON object if the first character is `{`. Throws a ConfigError
 * with the path if the file is missing or malformed.
 */
export async function readPropertiesFile(path: string): Promise<Record<string, string>> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    throw new ConfigError(`Cannot read ${path}: ${toError(error).message}`, { cause: error });
  }
  try {
    return parseProperties(decode(bytes));
  } catch (error) {
    throw new ConfigError(`${path}: ${toError(error).message}`, { cause: error });
  }
}

/**
 * Java loads properties as ISO-8859-1, but editors write UTF-8. Text that is valid UTF-8 is almost never something else, so UTF-8
 * is tried first; both agree on ASCII and `\uXXXX`.
 */
export function decode(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    return LATIN1.decode(bytes);
  }
}

/** Parses `.properties` or JSON as a flat map; the last of several equal keys wins. */
export function parseProperties(text: string): Record<string, string> {
  if (text.trimStart().startsWith('{')) return parseJsonProperties(text);
  const properties: Record<string, string> = {};
  checkEscapes(text);
  // The library recognizes continuation lines only before LF, and returns a lone continuation as a pair without a name.
  for (const line of parseLines(text.replace(/\r\n?/g, '\n'))) {
    if (Array.isArray(line) && line[0] !== '') properties[line[0] ?? ''] = line[1] ?? '';
  }
  return properties;
}

/** Java rejects a `\u` without four hex digits (usually a Windows path); the library would drop the backslash. */
function checkEscapes(text: string): void {
  for (const [index, line] of text.split(/\r\n?|\n/).entries()) {
    if (/^\s*[#!]/.test(line) || !/(?<!\\)(?:\\\\)*\\u(?![0-9a-fA-F]{4})/.test(line)) continue;
    throw new ConfigError(`Malformed \\uxxxx encoding in line ${String(index + 1)}; write a backslash as \\\\`);
  }
}

/** A JSON object of strings, numbers, booleans and lists of them (joined with commas). */
function parseJsonProperties(text: string): Record<string, string> {
  const parsed: unknown = JSON.parse(text);
  const properties: Record<string, string> = {};
  for (const [key, value] of Object.entries(parsed as Record<string, unknown>)) {
    properties[key] = Array.isArray(value)
      ? value.map((entry) => scalarText(key, entry)).join(',')
      : scalarText(key, value);
  }
  return properties;
}

function scalarText(key: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new ConfigError(`${key} must be a text, a number or a boolean`);
}
