import { shown } from '../message-text.ts';
import type { JsonScanner } from '../../json/json-cursor.ts';
import { MAX_TAGS, tooManyTags, type TagSet, type TagSets } from '../tag-sets.ts';

/**
 * Reads a point's tags at the scanner's position, an object of strings and numbers. A string is what is wrong with them, the
 * scanner behind the object all the same; `undefined`: it is not JSON.
 */
export function readJsonTags(scanner: JsonScanner, tagSets: TagSets): TagSet | string | undefined {
  const { text, position: start } = scanner;
  // Up to the first brace: the end of the object, unless a tag holds one. Text that was an object once is one here too.
  const end = text.indexOf('}', start) + 1;
  const known = end > 0 ? tagSets.find(text.slice(start, end)) : undefined;
  if (known !== undefined) {
    scanner.position = end;
    return known;
  }
  let count = 0;
  const names: string[] = [];
  const values: string[] = [];
  const hashed: string[] = [];
  let problem: string | undefined;
  scanner.openObject();
  if (!scanner.closeObject()) {
    const seen = new Set<string>();
    do {
      // Tags that no point can have are not collected.
      if (++count > MAX_TAGS) {
        if (!scanner.value() || !scanner.takeColon() || !scanner.value()) return undefined;
        continue;
      }
      const name = scanner.string();
      if (name === undefined || !scanner.takeColon()) return undefined;
      const value = readTag(scanner);
      if (value === undefined) return undefined;
      if (value === 'other') problem ??= `the tag ${shown(name)} is neither a string nor a number`;
      else if (seen.has(name)) problem ??= `the tag ${shown(name)} occurs twice`;
      else if (name === '') problem ??= 'the name of a tag is empty';
      else {
        seen.add(name);
        names.push(name);
        values.push(value.text);
        hashed.push(value.hashed);
      }
    } while (scanner.takeComma());
    if (!scanner.closeObject()) return undefined;
  }
  if (count > MAX_TAGS) problem ??= tooManyTags(count);
  return problem ?? tagSets.add(objectText(text, start, scanner.position), { names, values, hashed });
}

interface TagValue {
  readonly text: string;
  readonly hashed: string;
}

/** `other`: JSON, but neither a string nor a number. */
function readTag(scanner: JsonScanner): TagValue | 'other' | undefined {
  const kind = scanner.peek();
  if (kind === 'string') {
    const text = scanner.string();
    return text === undefined ? undefined : { text, hashed: `'${text}'` };
  }
  if (kind !== 'number') return scanner.value() ? 'other' : undefined;
  const start = scanner.position;
  if (!scanner.number()) return undefined;
  const text = canonicalNumber(scanner.text.slice(start, scanner.position), scanner.integer);
  return { text, hashed: text };
}

/** Equal numbers are one tag value, however they are spelled; integers keep all their digits. */
function canonicalNumber(text: string, integer: boolean): string {
  if (integer) return text === '-0' ? '0' : text;
  const value = Number(text);
  return Number.isFinite(value) ? String(value) : text;
}

/** The object that ends before `end`, without the spaces behind it. */
function objectText(text: string, start: number, end: number): string {
  return text.slice(start, text.lastIndexOf('}', end - 1) + 1);
}
