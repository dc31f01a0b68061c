/** By this symbol of a thread's global object the debugger asks whose code runs, such as `task sink-0`. */
export const OWNER_SYMBOL = 'sluice.owner';

/** The expression that asks. */
export const OWNER_QUESTION = `globalThis[Symbol.for(${JSON.stringify(OWNER_SYMBOL)})]?.()`;
