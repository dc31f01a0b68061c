import { declareOptions } from '../../config/option.ts';

/** Options that the converters of several formats have in common. */
export const formatOptions = declareOptions({
  'generalized.sum.type.support': {
    type: 'BOOLEAN',
    default: false,
    importance: 'MEDIUM',
    documentation: 'Whether enums and unions are described in the same way for Avro, Protobuf and JSON Schema.',
  },
  'ignore.default.for.nullables': {
    type: 'BOOLEAN',
    default: false,
    importance: 'LOW',
    documentation: 'Whether a null is written as null, although its field has a default.',
  },
});
