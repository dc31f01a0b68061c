/**
 * A count, rounded to at most three digits unless it exceeds 999M: `0`, `552`, `7.6k`, `417k`, `4.5M`; `–` if unknown.
 */
export function short(value: number | null): string {
  if (value === null) return '–';
  if (value < 1000) return value < 10 && !Number.isInteger(value) ? value.toFixed(1) : String(Math.round(value));
  const [unit, size] = value < 999_500 ? (['k', 1e3] as const) : (['M', 1e6] as const);
  const scaled = value / size;
  return `${scaled < 99.95 ? scaled.toFixed(1) : Math.round(scaled).toLocaleString('en')}${unit}`;
}

/** A rate in the format of `short`, except that a rate between 0 and 10 has one decimal place: `3.0`, `< 0.1`. */
export function rateText(value: number | null): string {
  if (value === null || value === 0 || value >= 10) return short(value);
  return value < 0.05 ? '< 0.1' : value.toFixed(1);
}

/** The last part of a Java class name. */
export function shortClass(className: string): string {
  return className.slice(className.lastIndexOf('.') + 1);
}

/** Minutes and seconds: `4:05`. */
export function minutesText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${String(Math.floor(seconds / 60))}:${String(seconds % 60).padStart(2, '0')}`;
}
