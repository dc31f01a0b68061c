import type { ConnectRecord } from '../../data/record.ts';
import type { Schema } from '../../data/schema.ts';
import type { ConnectValue } from '../../data/value.ts';

/** The key or the value of a record, whichever the class name of a transformation ends with (`$Key`, `$Value`). */
export interface RecordPart {
  schema(record: ConnectRecord): Schema | null;
  value(record: ConnectRecord): ConnectValue;
  /** The same record with another schema and value at this place. */
  replaced<R extends ConnectRecord>(record: R, schema: Schema | null, value: ConnectValue): R;
}

const KEY: RecordPart = {
  schema: (record) => record.keySchema,
  value: (record) => record.key,
  replaced: (record, keySchema, key) => ({ ...record, keySchema, key }),
};

const VALUE: RecordPart = {
  schema: (record) => record.valueSchema,
  value: (record) => record.value,
  replaced: (record, valueSchema, value) => ({ ...record, valueSchema, value }),
};

export const RECORD_PARTS = { Key: KEY, Value: VALUE } as const;
