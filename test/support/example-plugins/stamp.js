import { declareOptions, parseOptions } from 'sluice';
import { MARK } from './mark.js';

const options = declareOptions({
  separator: {
    type: 'STRING',
    default: '/',
    importance: 'LOW',
    documentation: 'What stands between the text and the mark.',
  },
});

export const stamp = {
  type: 'transformation',
  className: 'com.example.Stamp',
  options,
  create(config) {
    const { separator } = parseOptions(options, config);
    return {
      apply: (record) => (record.value === null ? record : { ...record, value: `${record.value}${separator}${MARK}` }),
    };
  },
};
