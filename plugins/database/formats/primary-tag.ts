import { hash } from 'node:crypto';
import { BoundedMap } from '../../../src/data/bounded-map.ts';
import type { Cell } from '../../../src/data/row-batch.ts';

/** Name of the primary tag of tables that the line formats create (docs/formats.md#the-primary-tag). */
export const PRIMARY_TAG = 'primary_tag';

/** Distinct tag sets remembered; 65 bytes of hash and the tags' own text each. */
const MAX_REMEMBERED = 10_000;

/**
 * The primary tag of a tag set: lower-case hexadecimal SHA-256 of the tags' texts, sorted bytewise and put together
 * without a separator (docs/formats.md#the-primary-tag). The texts are `key=value` for line protocol,
 * `key='value'` for the time-series formats, `key=15` for their JSON numbers.
 */
export function primaryTag(tagTexts: readonly string[]): string {
  const bytes = tagTexts.map((text) => Buffer.from(text, 'utf8')).sort((a, b) => Buffer.compare(a, b));
  return hash('sha256', Buffer.concat(bytes), 'hex');
}

/** Primary tags with memory: a tag set that was seen lately is not hashed again. */
export class PrimaryTags {
  readonly #known = new BoundedMap<string, string>(MAX_REMEMBERED);

  /** `values[i]` belongs to `keys[i]`; null values are tags that the row does not have. */
  of(keys: readonly string[], values: readonly Cell[]): string {
    const texts: string[] = [];
    for (const [index, key] of keys.entries()) {
      const value = values[index] ?? null;
      if (value !== null) texts.push(`${key}=${String(value)}`);
    }
    const set = texts.join('\0');
    return this.#known.getOrCreate(set, () => primaryTag(texts));
  }
}
