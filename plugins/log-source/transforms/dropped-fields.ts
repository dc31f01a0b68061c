import { Struct, type ConnectRecord, type ConnectValue, type Schema } from '../../../src/index.ts';
import { rememberedByName, withOptions } from './change-event.ts';

interface DroppingOptions {
  readonly 'drop.fields.header.name': string | null;
  readonly 'drop.fields.from.key': boolean;
  readonly 'drop.fields.keep.schema.compatible': boolean;
}

/** Returns a function that removes the fields which a header of the record names (`drop.fields.…` of ExtractNewRecordState). */
export function fieldDropping(options: DroppingOptions): <R extends ConnectRecord>(record: R) => R {
  const headerName = options['drop.fields.header.name'];
  const onlyOptional = options['drop.fields.keep.schema.compatible'];
  const schemaWithout = rememberedByName((schema, names) => {
    const dropped = new Set(JSON.parse(names) as readonly string[]);
    return withOptions(
      schema,
      {},
      schema.fields.filter((field) => !dropped.has(field.name) || (onlyOptional && !field.schema.optional)),
    );
  });
  const without = (value: ConnectValue, names: string): Struct | undefined => {
    if (!(value instanceof Struct)) return undefined;
    const schema = schemaWithout(value.schema, names);
    return new Struct(
      schema,
      schema.fields.map(({ name }) => value.get(name)),
    );
  };

  return (record) => {
    if (headerName === null || headerName === '') return record;
    const named = record.headers.find(({ key }) => key === headerName)?.value ?? null;
    if (!Array.isArray(named) || named.length === 0) return record;
    const names = JSON.stringify(named.filter((name) => typeof name === 'string'));
    const changed = { ...record, ...valueOf(without(record.value, names)) };
    if (!options['drop.fields.from.key']) return changed;
    const key = without(record.key, names);
    return key === undefined ? changed : { ...changed, key, keySchema: key.schema };
  };
}

function valueOf(value: Struct | undefined): { readonly value: Struct; readonly valueSchema: Schema } | undefined {
  return value && { value, valueSchema: value.schema };
}
