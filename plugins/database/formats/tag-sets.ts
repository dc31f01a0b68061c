import { BoundedMap } from '../../../src/data/bounded-map.ts';
import { shown } from './message-text.ts';
import { ownText } from '../../../src/data/repeated-texts.ts';
import { PRIMARY_TAG, primaryTag } from './primary-tag.ts';

/**
 * Maximum number of tags of a point, as in the original database. It also limits the nulls of a batch whose points have
 * different tags.
 */
export const MAX_TAGS = 128;
/** Length in bytes of a VARCHAR without a declared length (docs/formats.md#tables-of-lines-and-points). */
export const DEFAULT_LENGTH = 254;

/** Cache size for tag sets, and maximum text length of a cached one. */
const MAX_REMEMBERED = 20_000;
const MAX_REMEMBERED_LENGTH = 4_096;

export function tooManyTags(count: number): string {
  return `a point has at most ${String(MAX_TAGS)} tags, not ${String(count)}`;
}

/** Tag names in the order of a message; equal lists are usually the same object. */
export interface TagKeys {
  readonly names: readonly string[];
}

/** Tags of a point, prepared for its row. */
export interface TagSet {
  readonly keys: TagKeys;
  readonly values: readonly string[];
  /** Value of the primary tag column; `undefined` if it is neither derived nor given. */
  readonly primaryTag: string | undefined;
  /** True if `primaryTag` is a tag of the point itself. */
  readonly givesPrimaryTag: boolean;
  /** True if a value exceeds the default VARCHAR length. */
  readonly long: boolean;
}

/**
 * Tags as written in a message. `hashed` contains the values in the form from which the primary tag is derived:
 * `'text'` for strings, `15` for numbers.
 */
export interface TagText {
  readonly names: readonly string[];
  readonly values: readonly string[];
  readonly hashed: readonly string[];
}

export interface TagSetPolicy {
  /** Column names that tags must not have. */
  readonly timeColumn: string;
  readonly valueColumn: string;
  readonly nanosColumn?: string | undefined;
  readonly derivesPrimaryTag: boolean;
}

/**
 * Converts tags to column values, and caches the result by the spelling of the tags. A tag with the name of the primary
 * tag column replaces the derived primary tag.
 */
export class TagSets {
  /** The tag set of a point without tags. */
  readonly none: TagSet;
  readonly #policy: TagSetPolicy;
  readonly #known = new BoundedMap<string, TagSet>(MAX_REMEMBERED);
  readonly #keys = new BoundedMap<string, TagKeys>(MAX_REMEMBERED);
  /** Cached because new sets usually have the same names as the previous one. */
  #lastKeys: TagKeys | undefined;

  constructor(policy: TagSetPolicy) {
    this.#policy = policy;
    const primary = policy.derivesPrimaryTag ? primaryTag([]) : undefined;
    this.none = { keys: this.#keysOf([]), values: [], primaryTag: primary, givesPrimaryTag: false, long: false };
  }

  find(text: string): TagSet | undefined {
    return this.#known.get(text);
  }

  /** Adds tags to the cache under their spelling `text`. If they are invalid, returns the problem as a string. */
  add(text: string, tags: TagText): TagSet | string {
    const made = this.#make(tags);
    if (typeof made === 'string' || text.length > MAX_REMEMBERED_LENGTH) return made;
    this.#known.set(ownText(text), made);
    return made;
  }

  #make({ names, values, hashed }: TagText): TagSet | string {
    const { timeColumn, valueColumn, nanosColumn, derivesPrimaryTag } = this.#policy;
    if (names.length > MAX_TAGS) return tooManyTags(names.length);
    if (names.includes(timeColumn)) return `the tag ${shown(timeColumn)} has the name of the time column`;
    if (names.includes(valueColumn)) return `the tag ${shown(valueColumn)} has the name of the value column`;
    if (nanosColumn !== undefined && names.includes(nanosColumn)) {
      return `the tag ${shown(nanosColumn)} has the name of the nanoseconds column`;
    }
    const long = values.some((value) => value.length * 3 > DEFAULT_LENGTH && Buffer.byteLength(value) > DEFAULT_LENGTH);
    const given = names.indexOf(PRIMARY_TAG);
    if (given < 0) {
      const derived = derivesPrimaryTag
        ? primaryTag(names.map((name, at) => `${name}=${hashed[at] ?? ''}`))
        : undefined;
      return {
        keys: this.#keysOf(names),
        values: values.map(ownText),
        primaryTag: derived,
        givesPrimaryTag: false,
        long,
      };
    }
    return {
      keys: this.#keysOf(names.toSpliced(given, 1)),
      values: values.toSpliced(given, 1).map(ownText),
      primaryTag: ownText(values[given] ?? ''),
      givesPrimaryTag: true,
      long,
    };
  }

  #keysOf(names: readonly string[]): TagKeys {
    const last = this.#lastKeys;
    if (last?.names.length === names.length && last.names.every((name, at) => name === names[at])) return last;
    // JSON, because a name may contain any separator.
    const text = JSON.stringify(names);
    let keys = this.#keys.get(text);
    if (keys === undefined) {
      keys = { names: names.map(ownText) };
      if (text.length <= MAX_REMEMBERED_LENGTH) this.#keys.set(text, keys);
    }
    this.#lastKeys = keys;
    return keys;
  }
}
