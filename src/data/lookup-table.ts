/**
 * A table that is looked up by text from outside. An object literal has what every object inherits, too: `table['constructor']` would
 * be a function.
 */
export function lookupTable<T>(entries: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.assign(Object.create(null) as Record<string, T>, entries);
}
