/** Messages by which clients of the time-series formats recognize errors; details may follow. */
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
