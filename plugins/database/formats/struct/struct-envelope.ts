import type { Schema } from '../../../../src/data/schema.ts';
import { Struct, type ConnectValue } from '../../../../src/data/value.ts';

/**
 * The state of a row according to a record:
 * - present: the row has this value;
 * - deleted: the row does not exist; `before` is its old state, or null if the record does not contain it;
 * - truncated: the table has no rows;
 * - none: the record does not concern a row.
 */
export type RowState =
  | { readonly is: 'present'; readonly schema: Schema | null; readonly value: ConnectValue }
  | { readonly is: 'deleted'; readonly before: ConnectValue }
  | { readonly is: 'truncated' }
  | { readonly is: 'none' };

const TOMBSTONE: RowState = { is: 'deleted', before: null };
const TRUNCATED: RowState = { is: 'truncated' };
const NONE: RowState = { is: 'none' };

/**
 * Determines the state of the row after a record. Debezium's change events are recognized with and without schemas
 * (Debezium documentation, "Change event values"). Events of other kinds, such as logical messages, do not concern a
 * row. Any value that is not an event is a row itself.
 */
export function rowStateOf(schema: Schema | null, value: ConnectValue): RowState {
  if (value === null) return TOMBSTONE;
  if (!isEvent(schema, value)) return { is: 'present', schema, value };
  const after = memberOf(value, 'after') ?? null;
  switch (memberOf(value, 'op')) {
    case 'd':
      return { is: 'deleted', before: memberOf(value, 'before') ?? null };
    case 't':
      return TRUNCATED;
    case 'c':
    case 'u':
    case 'r':
      if (after === null) return NONE;
      return { is: 'present', schema: after instanceof Struct ? after.schema : null, value: after };
    default:
      return NONE;
  }
}

function isEvent(schema: Schema | null, value: ConnectValue): boolean {
  if (value instanceof Struct) return schema !== null && eventPlaces(schema) !== undefined;
  return value instanceof Map && isEventMap(value as ReadonlyMap<ConnectValue, ConnectValue>);
}

function isEventMap(map: ReadonlyMap<ConnectValue, ConnectValue>): boolean {
  const operation = map.get('op');
  if (typeof operation !== 'string' || !(map.get('source') instanceof Map)) return false;
  return operation === 'm' ? map.has('message') : map.has('before') && map.has('after');
}

/** Returns a field of a struct, or an entry of a map; `undefined` if there is none, and for other values. */
export function memberOf(value: ConnectValue, name: string): ConnectValue | undefined {
  if (value instanceof Map) return (value as ReadonlyMap<ConnectValue, ConnectValue>).get(name);
  if (!(value instanceof Struct)) return undefined;
  const field = value.schema.field(name);
  return field === undefined ? undefined : (value.values[field.index] ?? null);
}

/** Indexes of the fields `op` and `after` in an event schema. `after` is -1 in the schema of logical messages. */
interface EventIndexes {
  readonly operation: number;
  readonly after: number;
}

/** Cached results by schema; `null` if the schema is not that of a change event. */
const known = new WeakMap<Schema, EventIndexes | null>();

/** Returns the indexes for the schema of a change event; `undefined` for other schemas. */
export function eventPlaces(schema: Schema): EventIndexes | undefined {
  let indexes = known.get(schema);
  if (indexes === undefined) known.set(schema, (indexes = findIndexes(schema) ?? null));
  return indexes ?? undefined;
}

/**
 * Recognizes an event schema by its fields `op`, `source`, `after` and `before`, because converters and transforms may
 * have renamed the schema. If the schema still has Debezium's name, with or without its namespace, `before` may be
 * missing. The schema of logical messages is recognized by its name and its field `message`.
 */
function findIndexes(schema: Schema): EventIndexes | undefined {
  const [operation, source, before, after] = ['op', 'source', 'before', 'after'].map((name) => schema.field(name));
  if (operation?.schema.type !== 'string' || source?.schema.type !== 'struct') return undefined;
  const simpleName = schema.name?.split('.').at(-1);
  if (simpleName === 'MessageValue' && schema.field('message') !== undefined) {
    return { operation: operation.index, after: -1 };
  }
  if (after?.schema.type !== 'struct') return undefined;
  if (simpleName !== 'Envelope' && before?.schema.type !== 'struct') return undefined;
  return { operation: operation.index, after: after.index };
}

/** Returns the row after a change event with these values; `undefined` if the event does not contain it. */
export function rowAfter({ operation, after }: EventIndexes, values: readonly ConnectValue[]): Struct | undefined {
  const row = values[after];
  return row instanceof Struct && WITH_ROW.includes(values[operation] ?? null) ? row : undefined;
}

const WITH_ROW: readonly ConnectValue[] = ['c', 'u', 'r'];
