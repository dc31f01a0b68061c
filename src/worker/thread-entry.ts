/** A module of this folder that a thread runs, `./task-thread-entry`, as it is here: compiled or as its source. */
export function threadEntry(path: string): URL {
  return new URL(`${path}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
}
