import { Ajv, type ValidateFunction } from 'ajv';
import type { Typed } from './open-api.ts';

/** Stops at the first error, because a large body may have a million errors. */
const ajv = new Ajv({ allowUnionTypes: true });

/**
 * Compiles a check of values against a schema; values that pass have its type. `errors` of the check has the first
 * error.
 */
export function validatorOf<T>(schema: Typed<T>): ValidateFunction<T> {
  return ajv.compile<T>(schema);
}
