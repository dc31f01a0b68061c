import { shown } from '../message-text.ts';
import type { JsonCursor } from '../../../../src/json/json-cursor.ts';
import { MAX_TAGS, tooManyTags, type TagSet, type TagSets } from '../tag-sets.ts';

/**
 * Reads the tags of a point, an object of strings and numbers, at the cursor's position. Returns a string that
 * describes the problem if they are invalid, with the cursor after the object; `undefined` if the text is not JSON.
 */
export function readJsonTags(cursor: JsonCursor, tagSets: TagSets): TagSet | string | undefined {
  const { text, position: start } = cursor;
  // The first closing brace ends the object unless a tag contains one. If the text up to this brace is cached, the text
  // is a valid object.
  const end = text.indexOf('}', start) + 1;
  const known = end > 0 ? tagSets.find(text.slice(start, end)) : undefined;
  if (known !== undefined) {
    cursor.position = end;
    return known;
  }
  let count = 0;
  const names: string[] = [];
  const values: string[] = [];
  const hashed: string[] = [];
  let problem: string | undefined;
  cursor.openObject();
  if (!cursor.closeObject()) {
    const seen = new Set<string>();
    do {
      // Tags beyond the limit are not collected.
      if (++count > MAX_TAGS) {
        if (!cursor.value() || !cursor.takeColon() || !cursor.value()) return undefined;
        continue;
      }
      const name = cursor.string();
      if (name === undefined || !cursor.takeColon()) return undefined;
      const value = readTag(cursor);
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
    } while (cursor.takeComma());
    if (!cursor.closeObject()) return undefined;
  }
  if (count > MAX_TAGS) problem ??= tooManyTags(count);
  return problem ?? tagSets.add(objectText(text, start, cursor.position), { names, values, hashed });
}

interface TagValue {
  readonly text: string;
  readonly hashed: string;
}

/** Returns `other` for JSON that is neither a string nor a number. */
function readTag(cursor: JsonCursor): TagValue | 'other' | undefined {
  const kind = cursor.peek();
  if (kind === 'string') {
    const text = cursor.string();
    return text === undefined ? undefined : { text, hashed: `'${text}'` };
  }
  if (kind !== 'number') return cursor.value() ? 'other' : undefined;
  const start = cursor.position;
  if (!cursor.number()) return undefined;
  const text = canonicalNumber(cursor.text.slice(start, cursor.position), cursor.integer);
  return { text, hashed: text };
}

/** Equal numbers are the same tag value, regardless of their spelling; integers keep all digits. */
function canonicalNumber(text: string, integer: boolean): string {
  if (integer) return text === '-0' ? '0' : text;
  const value = Number(text);
  return Number.isFinite(value) ? String(value) : text;
}

/** Returns the text of the object without the blanks after its closing brace. `end` is a position after the brace. */
function objectText(text: string, start: number, end: number): string {
  return text.slice(start, text.lastIndexOf('}', end - 1) + 1);
}
