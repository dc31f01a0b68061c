/**
 * Returns a table without a prototype, for keys from outside. An object literal would also have inherited members:
 * `table['constructor']` would be a function.
 */
export function lookupTable<T>(entries: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.assign(Object.create(null) as Record<string, T>, entries);
}
