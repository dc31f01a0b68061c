/** The texts of all rows that have one, with `separator` in between. */
export function joined<Row>(rows: readonly Row[], textOf: (row: Row) => string, separator: string): string {
  let all = '';
  for (const row of rows) {
    const text = textOf(row);
    if (text !== '') all += all === '' ? text : separator + text;
  }
  return all;
}
