/**
 * The sentences by which clients of the time-series formats know what was wrong. A
 * fault's message has one of them and then the detail, which clients do not match on.
 */
export const telnetTexts = {
  prefix: 'wrong tsd telnet insert statement',
  missingParts: 'missing indicator items',
  value: 'value is not float type',
  tag: 'value is not just a column',
  duplicateTag: 'duplicate tag column',
} as const;

export const pointTexts = {
  prefix: 'wrong tsd json insert statement',
  format: 'invalid data for tsd json protocol, please check the format',
  missing: 'timestamp or value column is nil',
  tags: 'tags type is not support',
} as const;
