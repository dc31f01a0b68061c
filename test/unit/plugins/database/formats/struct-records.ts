import type { SinkRecord } from '../../../../../src/data/record.ts';
import type { Schema } from '../../../../../src/data/schema.ts';
import { Struct, type ConnectValue } from '../../../../../src/data/value.ts';
import { StructDecoder, type StructPolicy } from '../../../../../plugins/database/formats/struct/struct.ts';

/** A decoder with the defaults of the options, but for `changes`. */
export function structDecoder(changes: Partial<StructPolicy> = {}): StructDecoder {
  const defaults = { tableNameFormat: '${topic}', keyMode: 'none', keyFields: [], include: [], exclude: [] } as const;
  const placeholder = '__debezium_unavailable_value';
  return new StructDecoder({ ...defaults, deletes: false, truncates: false, placeholder, ...changes });
}

/** A struct with these values in the order of its fields; those left out are null. */
export function struct(schema: Schema, ...values: ConnectValue[]): Struct {
  return new Struct(
    schema,
    schema.fields.map((_, index) => values[index] ?? null),
  );
}

export interface Given {
  readonly topic?: string;
  readonly key?: ConnectValue;
  readonly keySchema?: Schema | null;
  readonly value?: ConnectValue;
  readonly valueSchema?: Schema | null;
  readonly offset?: number;
  readonly original?: SinkRecord['original'];
}

/** A record of partition 0; structs bring their schemas. */
function sinkRecord(given: Given): SinkRecord {
  const { topic = 't', key = null, value = null, offset = 0 } = given;
  const schemaOf = (part: ConnectValue) => (part instanceof Struct ? part.schema : null);
  return {
    topic,
    partition: 0,
    key,
    keySchema: given.keySchema ?? schemaOf(key),
    value,
    valueSchema: given.valueSchema ?? schemaOf(value),
    timestamp: null,
    timestampType: 'NoTimestampType',
    headers: [],
    offset,
    original: given.original ?? { topic, partition: 0, offset },
    consumed: { topic, partition: 0, offset },
  };
}

/** Adds records one after another, each at the offset of its place. */
export function addAll(decoder: StructDecoder, ...records: Given[]): void {
  records.forEach((given, offset) => {
    decoder.add(sinkRecord({ offset, ...given }), { kind: 'record', topic: 't', partition: 0, offset });
  });
}
