/** Symbol of a thread's global object that returns the owner of the running code, such as `task sink-0`, to the inspector. */
export const OWNER_SYMBOL = 'sluice.owner';

export const OWNER_EXPRESSION = `globalThis[Symbol.for(${JSON.stringify(OWNER_SYMBOL)})]?.()`;
