/** `1,234`, `12.3k`, `4.5M`. */
export function short(value: number | null): string {
  if (value === null) return '–';
  if (value < 10_000)
    return value < 10 && !Number.isInteger(value) ? value.toFixed(1) : Math.round(value).toLocaleString('en');
  return value < 1e6 ? `${(value / 1e3).toFixed(1)}k` : `${(value / 1e6).toFixed(1)}M`;
}

/** The last part of a Java class name. */
export function shortClass(className: string): string {
  return className.slice(className.lastIndexOf('.') + 1);
}

/** `4:05` */
export function minutesText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${String(Math.floor(seconds / 60))}:${String(seconds % 60).padStart(2, '0')}`;
}
