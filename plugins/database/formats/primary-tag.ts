import { hash } from 'node:crypto';
import { BoundedMap } from '../../../src/data/bounded-map.ts';
import type { Cell } from '../../../src/data/row-batch.ts';

/** Name of the primary tag in tables created for lines and points (docs/formats.md#the-primary-tag). */
export const PRIMARY_TAG = 'primary_tag';

/** Cache size; each entry takes 64 bytes for the hash, plus the text of the tags. */
const MAX_REMEMBERED = 10_000;

/**
 * Derives the primary tag from a tag set: SHA-256 in lower-case hexadecimal of the tags' texts, sorted bytewise and
 * concatenated without a separator (docs/formats.md#the-primary-tag). The texts are `key=value` for line protocol, and
 * `key='value'` for points (json_tsd, line_tsd), or `key=15` for JSON numbers.
 */
export function primaryTag(tagTexts: readonly string[]): string {
  const bytes = tagTexts.map((text) => Buffer.from(text, 'utf8')).sort((a, b) => Buffer.compare(a, b));
  return hash('sha256', Buffer.concat(bytes), 'hex');
}

/** Derives primary tags and caches those of recent tag sets. */
export class PrimaryTags {
  readonly #known = new BoundedMap<string, string>(MAX_REMEMBERED);

  /** `values[i]` belongs to `keys[i]`; null means that the row does not have the tag. */
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
