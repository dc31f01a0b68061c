import { oneOf } from '../config/validators.ts';

/** The use of a converter; the worker always sets it. */
export const converterType = {
  type: 'STRING',
  importance: 'LOW',
  documentation: 'What the converter is used for.',
  validator: oneOf('key', 'value', 'header'),
} as const;
