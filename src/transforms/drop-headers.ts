import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { distinctList } from '../config/validators.ts';
import { headerTransformation, recordTransformation } from './plugin-declaration.ts';

const options = declareOptions({
  headers: {
    type: 'LIST',
    importance: 'HIGH',
    documentation: 'Names of the headers to remove.',
    validator: distinctList({ emptyAllowed: false }),
  },
});

/** Removes all headers with the given names. */
export const dropHeaders = recordTransformation('DropHeaders', options, (config) => {
  const dropped = new Set(parseOptions(options, config, { errors: 'first' }).headers);
  return headerTransformation((headers) => headers.filter(({ key }) => !dropped.has(key)));
});
