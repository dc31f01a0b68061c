import { PLAN } from '../connect/pipeline/struct-plan.ts';
import { recordTransformation } from './plugin-declaration.ts';

/** Drops every record. A predicate determines to which records the transformation applies. */
export const filter = recordTransformation('Filter', {}, () => ({
  apply: () => null,
  [PLAN]: () => false,
}));
