import { PLAN } from '../connect/pipeline/struct-plan.ts';
import { recordTransformation } from './plugin-declaration.ts';

/** Drops every record; a predicate says which ones come here. */
export const filter = recordTransformation('Filter', {}, () => ({
  apply: () => null,
  [PLAN]: () => false,
}));
