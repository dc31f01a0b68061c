/**
 * Returns the URL of a module in this folder that a thread runs (`./task-thread-entry`). The module is compiled or source, like
 * this module.
 */
export function threadEntry(path: string): URL {
  return new URL(`${path}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
}
