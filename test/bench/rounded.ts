/** Rounds a figure to two decimals for printing. */
export function rounded(figure: number): number {
  return Number(figure.toFixed(2));
}
