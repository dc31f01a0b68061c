import type { ConnectorConfig, Header } from '../../../../../src/connect/api.ts';
import { transformationChain } from '../../../../../src/connect/pipeline/chain-builder.ts';
import type { TransformationChain } from '../../../../../src/connect/pipeline/transformation-chain.ts';
import { PluginRegistry } from '../../../../../src/connect/plugins/plugin-registry.ts';
import type { SinkRecord } from '../../../../../src/data/record.ts';
import { Schema } from '../../../../../src/data/schema.ts';
import { Struct, type ConnectValue } from '../../../../../src/data/value.ts';
import { transformationPlugins } from '../../../../../src/transforms/registry.ts';
import {
  envelope,
  envelopeSchema,
  EventTime,
  sourceOf,
  type Operation,
} from '../../../../../plugins/log-source/envelope.ts';
import { debeziumTransforms } from '../../../../../plugins/log-source/transforms/registry.ts';

const registry = new PluginRegistry([...transformationPlugins, ...debeziumTransforms]);

const TEXT = new Schema('string', { optional: true });

/** A product: `id`, `name`, `price`. */
export const PRODUCT = Schema.struct(
  [
    { name: 'id', schema: new Schema('int64') },
    { name: 'name', schema: TEXT },
    { name: 'price', schema: new Schema('float32', { optional: true }) },
  ],
  { name: 'shop.public.products.Value', optional: true },
);

export const PRODUCT_EVENT = envelopeSchema('shop.public.products', PRODUCT);

export function product(id: bigint, name: string | null, price: number | null = null): Struct {
  return new Struct(PRODUCT, [id, name, price]);
}

const SOURCE = sourceOf(
  {
    snapshot: null,
    lastCommit: undefined,
    lsn: 7n,
    xid: 5n,
    time: new EventTime(1_000_000n),
    origin: null,
    originLsn: null,
  },
  { connector: 'shop', database: 'shop', schema: 'public', table: 'products' },
);

/** An event of the table of products. */
export function event(operation: Operation, rows: { before?: Struct; after?: Struct } = {}): Struct {
  const { before = null, after = null } = rows;
  return envelope(PRODUCT_EVENT, operation, { before, after }, SOURCE, undefined);
}

export function recordOf(value: ConnectValue, more: Partial<SinkRecord> = {}): SinkRecord {
  const place = { topic: 'shop.public.products', partition: 0, offset: 3 };
  return {
    ...place,
    keySchema: null,
    key: null,
    valueSchema: value instanceof Struct ? value.schema : null,
    value,
    timestamp: 0,
    timestampType: 'CreateTime',
    headers: [],
    original: place,
    consumed: place,
    ...more,
  };
}

export function textHeader(key: string, value: string): Header {
  return { key, schema: TEXT, value };
}

/** A chain with one transform of Debezium. */
export function chainOf(name: string, options: ConnectorConfig = {}): TransformationChain {
  const own = Object.entries(options).map(([option, value]) => [`transforms.x.${option}`, value]);
  const type = `io.debezium.transforms.${name}`;
  const all: Readonly<Record<string, string>> = Object.fromEntries(own) as Record<string, string>;
  return transformationChain({ transforms: 'x', 'transforms.x.type': type, ...all }, registry);
}

/** The fields of a struct as an object; structs in it too. */
export function fieldsOf(value: ConnectValue | undefined): unknown {
  if (!(value instanceof Struct)) return value;
  return Object.fromEntries(value.schema.fields.map(({ name }) => [name, fieldsOf(value.get(name))]));
}
