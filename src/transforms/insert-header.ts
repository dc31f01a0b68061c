import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { PLAN } from '../connect/pipeline/struct-plan.ts';
import { nonNull } from '../config/validators.ts';
import { parseHeaderText } from '../converters/header-literals.ts';
import { recordTransformation } from './plugin-declaration.ts';

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

/** Adds a header with a fixed value, after those that are there. */
export const insertHeader = recordTransformation('InsertHeader', options, (config) => {
  const parsed = parseOptions(options, config, { errors: 'first' });
  const header = { key: parsed.header, ...parseHeaderText(parsed['value.literal']) };
  return {
    apply: (record) => ({ ...record, headers: [...record.headers, header] }),
    [PLAN](plan) {
      plan.headerNames = plan.headerNames && [...plan.headerNames, header.key];
      plan.headerSteps.push((headers) => [...headers, header]);
      return true;
    },
  };
});
