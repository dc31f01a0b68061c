import type { Verdict } from '../common/verdict.ts';

/** A view or a connector that the command palette leads to. */
export interface Place {
  readonly title: string;
  readonly address: string;
  readonly verdict?: Verdict;
}

const MAX_SHOWN = 12;

/** The places whose titles contain all words of the text. Titles that begin with the first word come first. */
export function found(places: readonly Place[], text: string): readonly Place[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const matches = places.filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)));
  const begins = ({ title }: Place): boolean => title.toLowerCase().startsWith(words[0] ?? '');
  return [...matches.filter(begins), ...matches.filter((place) => !begins(place))].slice(0, MAX_SHOWN);
}
