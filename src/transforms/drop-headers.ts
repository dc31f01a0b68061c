import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { PLAN } from '../connect/pipeline/struct-plan.ts';
import type { Header } from '../data/record.ts';
import { distinctList } from '../config/validators.ts';
import { recordTransformation } from './plugin-declaration.ts';

const options = declareOptions({
  headers: {
    type: 'LIST',
    importance: 'HIGH',
    documentation: 'Names of the headers to remove.',
    validator: distinctList({ emptyAllowed: false }),
  },
});

/** Removes all headers of the given names. */
export const dropHeaders = recordTransformation('DropHeaders', options, (config) => {
  const dropped = new Set(parseOptions(options, config, { errors: 'first' }).headers);
  const without = (headers: readonly Header[]): readonly Header[] => headers.filter(({ key }) => !dropped.has(key));
  return {
    apply: (record) => ({ ...record, headers: without(record.headers) }),
    [PLAN](plan) {
      plan.headerNames = plan.headerNames?.filter((name) => !dropped.has(name));
      plan.headerSteps.push(without);
      return true;
    },
  };
});
