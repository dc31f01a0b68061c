import { DataError, Schema } from 'sluice';

const TEXT = new Schema('string', { optional: true });

const converter = {
  fromConnectData(_topic, _schema, value) {
    if (value === null) return null;
    if (typeof value !== 'string') throw new DataError(`${typeof value} is no text`);
    return Buffer.from(value.toLowerCase());
  },
  toConnectData(_topic, bytes) {
    const value = bytes === null ? null : Buffer.from(bytes).toString().toUpperCase();
    return { schema: TEXT, value };
  },
};

export const upperCaseConverter = {
  type: 'converter',
  className: 'com.example.UpperCaseConverter',
  options: {},
  create: () => converter,
};
