import {
  declareOptions,
  parseOptions,
  PLAN,
  placeOf,
  Schema,
  Struct,
  type ConnectRecord,
  type ConnectValue,
  type Header,
  type PlannedPart,
  type StructPlan,
} from '../../../src/index.ts';
import { changeEvent, isEventSchema, rememberedFor, structField, withOptions } from './change-event.ts';
import { debeziumTransform } from './declaration.ts';
import { fieldDropping } from './dropped-fields.ts';
import { choiceOf } from './validators.ts';

const options = declareOptions({
  'delete.tombstone.handling.mode': {
    type: 'STRING',
    default: 'tombstone',
    importance: 'MEDIUM',
    documentation:
      'What happens to a delete. `drop`: it is dropped. `tombstone` and `delete-to-tombstone`: it becomes a record without a value. `rewrite` and `rewrite-with-tombstone`: it becomes the old row with the field `__deleted`. The tombstone that follows a delete is kept with `rewrite-with-tombstone` and `delete-to-tombstone`, and otherwise dropped.',
    validator: choiceOf('drop', 'tombstone', 'rewrite', 'rewrite-with-tombstone', 'delete-to-tombstone'),
  },
  'route.by.field': {
    type: 'STRING',
    default: '',
    importance: 'LOW',
    documentation: 'Field of the row that names the topic.',
  },
  'add.fields': {
    type: 'LIST',
    default: [],
    importance: 'LOW',
    documentation: 'Fields of the event that are added to the row, such as `op,source.ts_ms:changed_at`.',
  },
  'add.fields.prefix': {
    type: 'STRING',
    default: '__',
    importance: 'LOW',
    documentation: 'First part of the names of added fields.',
  },
  'add.headers': {
    type: 'LIST',
    default: [],
    importance: 'LOW',
    documentation: 'Fields of the event that become headers.',
  },
  'add.headers.prefix': {
    type: 'STRING',
    default: '__',
    importance: 'LOW',
    documentation: 'First part of the names of added headers.',
  },
  'drop.fields.header.name': {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation: 'Header with the names of fields that are left out of the row.',
  },
  'drop.fields.from.key': {
    type: 'BOOLEAN',
    default: false,
    importance: 'LOW',
    documentation: 'Whether the fields that the header names are also left out of the key.',
  },
  'drop.fields.keep.schema.compatible': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation: 'Whether only optional fields are left out.',
  },
});

/** A field of the event that is added to the row or to the headers. */
interface AddedField {
  readonly name: string;
  /** Path to the field: `field`, or a block such as `source` and a field in it. */
  readonly path: readonly string[];
}

const OPTIONAL_TEXT = new Schema('string', { optional: true });
const BLOCKS = ['transaction', 'source', 'changes', 'before', 'after'];

/** Parses entries `field` or `block.field`, both optionally with `:new_name`. A field without a block is searched in the event, then in `source`. */
function addedFields(list: readonly string[], prefix: string): readonly AddedField[] {
  return list
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [path = '', renamed] = entry.split(':');
      const parts = path.split('.');
      return { name: prefix + (renamed ?? parts.join('_')), path: parts };
    });
}

function schemaAt(event: Schema, path: readonly string[]): Schema | undefined {
  const [first = '', second] = path;
  if (second !== undefined && BLOCKS.includes(first)) return event.field(first)?.schema.field(second)?.schema;
  return event.field(first)?.schema ?? event.field('source')?.schema.field(first)?.schema;
}

function valueAt(event: Struct, path: readonly string[]): ConnectValue {
  const [first = '', second] = path;
  const block = second !== undefined && BLOCKS.includes(first) ? structField(event, first) : null;
  if (second !== undefined) return block?.schema.field(second) === undefined ? null : block.get(second);
  if (event.schema.field(first) !== undefined) return event.get(first);
  const source = structField(event, 'source');
  return source?.schema.field(first) === undefined ? null : source.get(first);
}

/** Like `valueAt`, for a plan: returns the place in the plan that holds the value (see `placeOf`); `undefined` if it is always null. */
function placeAt(plan: StructPlan, event: PlannedPart, path: readonly string[]): number | undefined {
  const [first = '', second] = path;
  const own = event.schema.field(first);
  if (second === undefined && own !== undefined) return placeOf(event, own);
  const block = second === undefined ? event.schema.field('source') : BLOCKS.includes(first) ? own : undefined;
  const field = block?.schema.field(second ?? first);
  if (block === undefined || field === undefined) return undefined;
  return plan.changed(placeOf(event, block), (value) =>
    value instanceof Struct ? (value.values[field.index] ?? null) : null,
  );
}

/**
 * `io.debezium.transforms.ExtractNewRecordState`: replaces a change event by the row after the change. Truncations are dropped. Deletes
 * and tombstones are converted or dropped according to `delete.tombstone.handling.mode`. Records that are not events are not changed.
 */
export const extractNewRecordState = debeziumTransform('ExtractNewRecordState', options, (config) => {
  const parsed = parseOptions(options, config, { errors: 'first' });
  const mode = parsed['delete.tombstone.handling.mode'];
  const isRewriting = mode.startsWith('rewrite');
  const added = addedFields(parsed['add.fields'], parsed['add.fields.prefix']);
  const addedHeaders = addedFields(parsed['add.headers'], parsed['add.headers.prefix']);
  const routeField = parsed['route.by.field'];
  const dropFields = fieldDropping(parsed);
  const rowSchema = rememberedFor((event: Schema) => {
    const row = event.field('after')?.schema ?? OPTIONAL_TEXT;
    const extra = [
      ...(isRewriting ? [{ name: '__deleted', schema: OPTIONAL_TEXT }] : []),
      ...added.map(({ name, path }) => {
        const schema = schemaAt(event, path);
        return { name, schema: schema === undefined ? OPTIONAL_TEXT : plainOptional(schema) };
      }),
    ];
    return withOptions(row, { optional: false }, [...row.fields, ...extra]);
  });

  const headersOf = (record: ConnectRecord, event: Struct): readonly Header[] => {
    const own = addedHeaders.map(({ name, path }): Header => {
      const schema = schemaAt(event.schema, path);
      return {
        key: name,
        schema: schema === undefined ? OPTIONAL_TEXT : plainOptional(schema),
        value: valueAt(event, path),
      };
    });
    return own.length === 0 ? record.headers : [...record.headers, ...own];
  };

  const rowOf = (event: Struct, row: Struct, isDeleted: boolean): Struct => {
    const schema = rowSchema(event.schema);
    const extra = added.map(({ path }) => valueAt(event, path));
    return new Struct(schema, [...row.values, ...(isRewriting ? [String(isDeleted)] : []), ...extra]);
  };

  const routed = (record: ConnectRecord, row: Struct): string => {
    if (routeField === '' || row.schema.field(routeField) === undefined) return record.topic;
    const value = row.get(routeField);
    return typeof value === 'string' ? value : record.topic;
  };

  return {
    apply<R extends ConnectRecord>(record: R): R | null {
      if (record.value === null) {
        return mode === 'tombstone' || mode === 'rewrite' || mode === 'drop' ? null : record;
      }
      const event = changeEvent(record);
      if (event === undefined) return record;
      const operation = event.get('op');
      if (operation === 't') return null;
      const headers = headersOf(record, event);
      const after = structField(event, 'after');
      if (after !== null) {
        const value = rowOf(event, after, false);
        return dropFields({ ...record, topic: routed(record, after), headers, valueSchema: value.schema, value });
      }
      const before = structField(event, 'before');
      if (mode === 'drop' || before === null) return null;
      const topic = routed(record, before);
      if (!isRewriting) return { ...record, topic, headers, valueSchema: before.schema, value: null };
      const value = rowOf(event, before, true);
      return dropFields({ ...record, topic, headers, valueSchema: value.schema, value });
    },
    [PLAN](plan) {
      const event = plan.value;
      if (!isEventSchema(event.schema)) return true;
      const after = event.schema.field('after');
      // The fields that a header names differ from record to record, so they cannot be planned.
      if (after?.schema.type !== 'struct' || parsed['drop.fields.header.name'] !== null) return false;
      const row = plan.opened(placeOf(event, after), after.schema);
      const schema = rowSchema(event.schema);
      const places = [...row];
      if (isRewriting) places.push(plan.constant('false'));
      for (const { path } of added) places.push(placeAt(plan, event, path) ?? plan.inserted(() => null));
      for (const { name, path } of addedHeaders) {
        const own = schemaAt(event.schema, path);
        const place = placeAt(plan, event, path) ?? plan.inserted(() => null);
        plan.addHeader(name, own === undefined ? OPTIONAL_TEXT : plainOptional(own), place);
      }
      const routedBy = after.schema.field(routeField);
      if (routedBy !== undefined) {
        const { topic } = plan;
        const from = row[routedBy.index] ?? 0;
        if (topic === undefined) return false;
        plan.topic = undefined;
        plan.topicPlace = plan.place((to) => (cells) => {
          const name = cells[from] ?? null;
          cells[to] = typeof name === 'string' ? name : topic;
          return true;
        });
      }
      plan.value = { schema, places };
      return true;
    },
  };
});

/** An optional schema with the same type but without name, version and parameters, as Debezium uses for added fields. */
function plainOptional(schema: Schema): Schema {
  const { fields, keySchema, valueSchema } = schema;
  const parts = { fields, ...(keySchema && { keySchema }), ...(valueSchema && { valueSchema }) };
  return new Schema(schema.type, { optional: true }, parts);
}
