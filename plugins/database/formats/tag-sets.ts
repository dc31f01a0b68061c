import { BoundedMap } from '../../../src/data/bounded-map.ts';
import { shown } from './message-text.ts';
import { ownText } from '../../../src/data/repeated-texts.ts';
import { PRIMARY_TAG, primaryTag } from './primary-tag.ts';

/** The limit of the original database; it also bounds the nulls of a batch whose points differ in tags. */
export const MAX_TAGS = 128;
/** Length of a VARCHAR without a declared length, in bytes (docs/formats.md#tables-of-lines-and-points). */
export const DEFAULT_LENGTH = 254;

/** Tag sets remembered by their text, and the longest text that is. */
const MAX_REMEMBERED = 20_000;
const MAX_REMEMBERED_LENGTH = 4_096;

export function tooManyTags(count: number): string {
  return `a point has at most ${String(MAX_TAGS)} tags, not ${String(count)}`;
}

/** Names of tags, in the order of a message; equal lists are mostly the same object. */
export interface TagKeys {
  readonly names: readonly string[];
}

/** Tags of a point, ready for its row. */
export interface TagSet {
  readonly keys: TagKeys;
  readonly values: readonly string[];
  /** The column of that name; `undefined` when it is not derived and not given. */
  readonly primaryTag: string | undefined;
  /** `primaryTag` is a tag of the point itself. */
  readonly givesPrimaryTag: boolean;
  /** Whether a value is longer than VARCHARs are made. */
  readonly long: boolean;
}

/** Tags as a message spells them; `hashed` are their values as the primary tag is made of them: `'text'` or `15`. */
export interface TagText {
  readonly names: readonly string[];
  readonly values: readonly string[];
  readonly hashed: readonly string[];
}

export interface TagSetPolicy {
  /** Names of the columns that no tag may have. */
  readonly timeColumn: string;
  readonly valueColumn: string;
  readonly nanosColumn?: string | undefined;
  readonly derivesPrimaryTag: boolean;
}

/**
 * Turns tags into columns' values once per spelling. The primary tag is derived from all tags (docs/formats.md#the-primary-tag)
 * unless one of them has its name.
 */
export class TagSets {
  /** Of a point without tags. */
  readonly none: TagSet;
  readonly #policy: TagSetPolicy;
  readonly #known = new BoundedMap<string, TagSet>(MAX_REMEMBERED);
  readonly #keys = new BoundedMap<string, TagKeys>(MAX_REMEMBERED);
  /** New sets mostly have the names of the one before. */
  #lastKeys: TagKeys | undefined;

  constructor(policy: TagSetPolicy) {
    this.#policy = policy;
    const primary = policy.derivesPrimaryTag ? primaryTag([]) : undefined;
    this.none = { keys: this.#keysOf([]), values: [], primaryTag: primary, givesPrimaryTag: false, long: false };
  }

  /** The tags that were written so before. */
  find(text: string): TagSet | undefined {
    return this.#known.get(text);
  }

  /** The tags that are written as `text`, remembered; a string is what is wrong with them. */
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
      return `the tag ${shown(nanosColumn)} has the name of the column of the nanoseconds`;
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
    // As JSON, because a name may hold any separator.
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
