import { PLAN } from '../connect/pipeline/struct-plan.ts';
import { recordTransformation } from './plugin-declaration.ts';

/** Drops every record; a predicate decides to which records it applies. */
export const filter = recordTransformation('Filter', {}, () => ({
  apply: () => null,
  [PLAN]: () => false,
}));
