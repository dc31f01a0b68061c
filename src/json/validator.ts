import { Ajv, type ValidateFunction } from 'ajv';
import type { Typed } from './open-api.ts';

/** Stops at the first error, because a large body may have a million errors. */
const ajv = new Ajv({ allowUnionTypes: true });

/**
 * Compiles a check of values against a schema. Values that pass the check have the type of the schema. After a failed
 * check, its property `errors` contains only the first error.
 */
export function validatorOf<T>(schema: Typed<T>): ValidateFunction<T> {
  return ajv.compile<T>(schema);
}
