/** The entries of a comma-separated list, without blanks and without empty ones; none for no text. */
export function listEntries(text: string | null | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
