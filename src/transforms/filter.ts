import { recordTransformation } from './plugin-declaration.ts';

/** Drops every record; a predicate says which ones come here. */
export const filter = recordTransformation('Filter', {}, () => ({ apply: () => null }));
