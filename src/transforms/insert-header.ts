import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { nonNull } from '../config/validators.ts';
import { parseHeaderText } from '../converters/header-literals.ts';
import { headerTransformation, recordTransformation } from './plugin-declaration.ts';

const options = declareOptions({
  header: {
    type: 'STRING',
    importance: 'HIGH',
    documentation: 'Name of the header.',
    validator: nonNull,
  },
  'value.literal': {
    type: 'STRING',
    importance: 'HIGH',
    documentation:
      'Value of the header, read as SimpleHeaderConverter reads it: the smallest number type that fits, true, false, null, dates, lists, maps, else text.',
    validator: nonNull,
  },
});

/** Adds a header with a fixed value after the existing ones. */
export const insertHeader = recordTransformation('InsertHeader', options, (config) => {
  const parsed = parseOptions(options, config, { errors: 'first' });
  const header = { key: parsed.header, ...parseHeaderText(parsed['value.literal']) };
  return headerTransformation((headers) => [...headers, header]);
});
