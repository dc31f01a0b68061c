import { createHash } from 'node:crypto';
import type { Draw } from '../../support/random.ts';
import type { Place } from './sink-subject.ts';

/** A tag with its value as text. In JSON, the value may be a number. */
export interface Tag {
  readonly name: string;
  readonly text: string;
  readonly isNumber: boolean;
}

export interface TagChoice {
  /** Names of tags in addition to `site`, with the first step in which they occur. */
  readonly more: readonly { readonly name: string; readonly since: number }[];
  readonly texts: readonly string[];
  /** Only JSON points have numbers as tags. */
  readonly hasNumbers: boolean;
}

/** Draws the tags of one series. A series is in one partition only. */
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

/** Derives the primary tag from the texts of the tags (docs/formats.md#the-primary-tag). */
export function primaryTag(texts: readonly string[]): string {
  const sorted = texts.map((text) => Buffer.from(text)).toSorted((left, right) => Buffer.compare(left, right));
  return createHash('sha256').update(Buffer.concat(sorted)).digest('hex');
}
