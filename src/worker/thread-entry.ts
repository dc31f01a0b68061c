/** URL of a module of this folder that a thread runs (`./task-thread-entry`), compiled or as source like this module. */
export function threadEntry(path: string): URL {
  return new URL(`${path}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
}
