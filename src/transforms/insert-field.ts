import { declareOptions } from '../config/option.ts';
import { parseOptions } from '../config/parse.ts';
import { PLAN, type StructPlan } from '../connect/pipeline/struct-plan.ts';
import { javaStringHash } from '../java/java-hash-order.ts';
import { invalidValueText } from '../config/to-text.ts';
import type { ConnectRecord, SinkRecord } from '../data/record.ts';
import { LogicalName, Schema } from '../data/schema.ts';
import { Struct, TypedNumber, type ConnectValue } from '../data/value.ts';
import { ConfigError, DataError } from '../errors.ts';
import { copyOfFields, mappedPlaces, mappedValues } from './field-transformation.ts';
import { partTransformation, plannedStruct, replaceNullWithDefault } from './plugin-declaration.ts';
import { requireMap, requireStruct } from './requirements.ts';
import { basicsOf, fieldAt, rememberedBySchema, structSchema } from './schema-building.ts';
import { checkedCell } from './struct-cells.ts';

const PURPOSE = 'field insertion';
const MARKS = 'A trailing `!` makes the field required; with a trailing `?` or no mark it is optional.';

function fieldName(what: string) {
  return {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation: `Name of the field for ${what}. ${MARKS}`,
  } as const;
}

const options = declareOptions({
  'topic.field': fieldName('the topic'),
  'partition.field': fieldName('the partition'),
  'offset.field': fieldName('the offset (sinks only)'),
  'timestamp.field': fieldName('the timestamp of the record'),
  'static.field': fieldName('a fixed text'),
  'static.value': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation: 'The text for `static.field`.',
  },
  'replace.null.with.default': replaceNullWithDefault,
});

/**
 * A field to insert. `typed` returns the value for a struct, and `untyped` for a map without a schema. If the record
 * has no such value, they return `undefined`; the field is then null in a struct and missing in a map.
 */
interface Insertion {
  readonly name: string;
  readonly schema: Schema;
  readonly typed: (record: ConnectRecord) => ConnectValue | undefined;
  readonly untyped: (record: ConnectRecord) => ConnectValue | undefined;
  /** Place of the value in a plan; `undefined` if the plan does not have it. */
  readonly planned: (plan: StructPlan) => number | undefined;
}

/** Adds the topic, partition, offset or timestamp of the record, or a fixed text, to a struct or map. */
export const insertField = partTransformation('InsertField', options, (config, part) => {
  const parsed = parseOptions(options, config, { errors: 'first' });
  const withDefault = parsed['replace.null.with.default'];
  const staticValue = parsed['static.value'];
  const insertions = [
    ...insertion(parsed['topic.field'], ['string'], {
      typed: (record) => record.topic,
      planned: (plan) => (plan.topic === undefined ? plan.topicPlace : plan.constant(plan.topic)),
    }),
    ...insertion(parsed['partition.field'], ['int32'], {
      typed: (record) => record.partition ?? undefined,
      untyped: ({ partition }) => (partition === null ? undefined : new TypedNumber('int32', partition)),
      planned: (plan) => plan.inserted(({ partition }) => partition),
    }),
    ...insertion(parsed['offset.field'], ['int64'], {
      typed: offsetOf,
      planned: (plan) => plan.inserted(({ offsets }, index) => offsets[index] ?? null),
    }),
    ...insertion(parsed['timestamp.field'], ['int64', LogicalName.timestamp], {
      typed: ({ timestamp }) => (timestamp === null ? undefined : new Date(timestamp)),
      untyped: ({ timestamp }) => (timestamp === null ? undefined : BigInt(timestamp)),
      planned: (plan) =>
        plan.inserted(({ timestamps }, index) => {
          const timestamp = timestamps[index] ?? -1;
          return timestamp < 0 ? null : new Date(timestamp);
        }),
    }),
    ...insertion(parsed['static.field'], ['string'], {
      typed: () => staticValue ?? undefined,
      planned: (plan) => (staticValue === null ? undefined : plan.constant(staticValue)),
    }),
  ];
  if (insertions.length === 0) throw new ConfigError('No field insertion configured');
  if (parsed['static.field'] !== null && staticValue === null) {
    // Connect's message contains the hash code of an object, which differs between runs. Sluice uses the hash of the
    // option `static.field` instead, so that the message is always the same.
    const spec = `org.apache.kafka.connect.transforms.InsertField$InsertionSpec@${(javaStringHash(parsed['static.field']) >>> 0).toString(16)}`;
    const reason = `No value specified for static field: ${spec}`;
    throw new ConfigError(invalidValueText('static.value', null, reason));
  }

  const mapping = rememberedBySchema((schema) =>
    copyOfFields(schema, structSchema([...schema.fields, ...insertions], basicsOf(schema)), withDefault),
  );

  return {
    apply(record) {
      const schema = part.schema(record);
      const value = part.value(record);
      if (value === null) return record;
      if (schema === null) {
        const updated = new Map<ConnectValue, ConnectValue>(requireMap(value, PURPOSE));
        for (const { name, untyped } of insertions) {
          const inserted = untyped(record);
          if (inserted !== undefined) updated.set(name, inserted);
        }
        return part.replaced(record, null, updated);
      }
      const struct = requireStruct(value, schema, PURPOSE);
      const rule = mapping(struct.schema);
      const values = mappedValues(struct, rule);
      for (const { typed } of insertions) {
        const inserted = typed(record);
        values.push(inserted === undefined ? null : checkedCell(inserted, fieldAt(rule.schema, values.length)));
      }
      return part.replaced(record, rule.schema, new Struct(rule.schema, values));
    },
    [PLAN](plan) {
      const struct = plannedStruct(part, plan);
      if (struct === undefined) return false;
      const rule = mapping(struct.schema);
      const places = mappedPlaces(plan, struct, rule);
      for (const { planned } of insertions) {
        const place = planned(plan);
        if (place === undefined) return false;
        places.push(place);
      }
      return part.replan(plan, rule.schema, places);
    },
  };
});

function insertion(
  spec: string | null,
  [type, name]: readonly ['string' | 'int32' | 'int64', string?],
  { typed, untyped = typed, planned }: Pick<Insertion, 'typed' | 'planned'> & Partial<Pick<Insertion, 'untyped'>>,
): Insertion[] {
  if (spec === null) return [];
  const optional = !spec.endsWith('!');
  const schema = new Schema(type, { optional, ...(name === undefined ? {} : { name, version: 1 }) });
  return [{ name: /[!?]$/.test(spec) ? spec.slice(0, -1) : spec, schema, typed, untyped, planned }];
}

function offsetOf(record: ConnectRecord): bigint {
  if ('offset' in record) return BigInt((record as SinkRecord).offset);
  throw new DataError(
    `Only SinkRecord supported for [${PURPOSE}], found: org.apache.kafka.connect.source.SourceRecord`,
  );
}
