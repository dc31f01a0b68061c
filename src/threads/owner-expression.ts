/**
 * Name of the symbol under which the global object of a thread has a function for the inspector. The function returns the
 * owner of the running code, such as `task sink-0`.
 */
export const OWNER_SYMBOL = 'sluice.owner';

export const OWNER_EXPRESSION = `globalThis[Symbol.for(${JSON.stringify(OWNER_SYMBOL)})]?.()`;
