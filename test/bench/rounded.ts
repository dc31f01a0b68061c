/** To two decimals, as figures are printed. */
export function rounded(figure: number): number {
  return Number(figure.toFixed(2));
}
