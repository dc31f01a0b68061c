/** The width of prose in the documents. */
export const PROSE_WIDTH = 120;

/**
 * Wraps a paragraph or list item to lines of at most 120 characters, as far as words and code allow it. `indent`
 * precedes each line but the first. Code with blanks stays on one line.
 */
export function wrapped(text: string, indent: string): string {
  const words = text.match(/(?:`[^`]*`|[^\s`])+/g) ?? [];
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length <= PROSE_WIDTH || line === '') {
      line = longer;
    } else {
      lines.push(line);
      line = indent + word;
    }
  }
  return [...lines, line].join('\n');
}
