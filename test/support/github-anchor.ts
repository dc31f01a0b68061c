/**
 * Returns the anchor that GitHub generates for a heading without links: lower case, without punctuation, blanks as
 * hyphens.
 */
export function githubAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}
