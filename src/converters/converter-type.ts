import { oneOf } from '../config/validators.ts';

/** What a converter is used for; the worker always sets it. */
export const converterType = {
  type: 'STRING',
  importance: 'LOW',
  documentation: 'What the converter is used for.',
  validator: oneOf('key', 'value', 'header'),
} as const;
