import { createHash } from 'node:crypto';
import type { Draw } from '../../support/random.ts';
import type { Place } from './sink-subject.ts';

/** A tag: its value as text, and whether it is a number in JSON. */
export interface Tag {
  readonly name: string;
  readonly text: string;
  readonly isNumber: boolean;
}

export interface TagChoice {
  /** Names of tags beside `site`, with the first step that has them. */
  readonly more: readonly { readonly name: string; readonly since: number }[];
  readonly texts: readonly string[];
  /** Numbers are tags of JSON points only. */
  readonly hasNumbers: boolean;
}

/** Tags of one series; the series of a partition are in no other partition. */
export function drawTags(
  draw: Draw,
  { partition }: Place,
  step: number,
  { more, texts, hasNumbers }: TagChoice,
): Tag[] {
  const site = { name: 'site', text: `p${String(partition)}${draw.pick(['', 'b'])}`, isNumber: false };
  const others = more
    .filter(({ since }) => since <= step && draw.chance(0.6))
    .map(({ name }) => {
      const isNumber = hasNumbers && draw.chance(0.3);
      return { name, text: isNumber ? String(draw.between(1, 2)) : draw.pick(texts), isNumber };
    });
  return [site, ...others];
}

/** The primary tag that is derived from tags whose texts are these (docs/formats.md#the-primary-tag). */
export function primaryTag(texts: readonly string[]): string {
  const sorted = texts.map((text) => Buffer.from(text)).toSorted((left, right) => Buffer.compare(left, right));
  return createHash('sha256').update(Buffer.concat(sorted)).digest('hex');
}
