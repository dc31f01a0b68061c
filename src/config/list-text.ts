/** The trimmed, non-empty entries of a comma-separated list. */
export function listEntries(text: string | null | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
