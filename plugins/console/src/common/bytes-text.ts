const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** `12.3 MB`. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? value.toFixed(0) : value.toFixed(1)} ${UNITS[unit] ?? ''}`;
}
