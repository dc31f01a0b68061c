export type CsvCell = string | number | bigint | boolean | null;

/** Texts that spreadsheets would run as a formula. */
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;
const QUOTED = /[",\r\n]/;

/**
 * Formats CSV (RFC 4180) with a header line. NULL is an empty field, and an empty text is `""`. A text that a spreadsheet would run as a
 * formula gets an apostrophe in front.
 */
export function csvOf(names: readonly string[], rows: readonly (readonly CsvCell[])[]): string {
  const lines = [names.map(csvCell), ...rows.map((row) => row.map(csvCell))];
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}

function csvCell(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = FORMULA.test(cell) && !NUMBER.test(cell) ? `'${cell}` : cell;
  return text === '' || QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
