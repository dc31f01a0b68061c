import type { Schema } from '../../../../src/data/schema.ts';
import { Struct, type ConnectValue } from '../../../../src/data/value.ts';

/**
 * The state of a row according to a record: its current value, or deleted; `none` for events that do not concern a row.
 */
export type RowState =
  | { readonly is: 'present'; readonly schema: Schema | null; readonly value: ConnectValue }
  | { readonly is: 'deleted' }
  | { readonly is: 'none' };

const DELETED: RowState = { is: 'deleted' };
const NONE: RowState = { is: 'none' };
const envelopes = new WeakMap<Schema, boolean>();

/**
 * Extracts the row from Debezium's change events (schema names ending in `.Envelope`; Debezium documentation, "Change
 * event values"): the state after the event, or its deletion. Truncations and messages do not concern a row.
 */
export function rowStateOf(schema: Schema | null, value: ConnectValue): RowState {
  if (value === null) return DELETED;
  if (schema === null || !(value instanceof Struct) || !isEnvelope(schema)) return { is: 'present', schema, value };
  const after = value.get('after');
  switch (value.get('op')) {
    case 'd':
      return DELETED;
    case 'c':
    case 'u':
    case 'r':
      return after === null ? NONE : { is: 'present', schema: schema.field('after')?.schema ?? null, value: after };
    default:
      return NONE;
  }
}

export function isEnvelope(schema: Schema): boolean {
  let known = envelopes.get(schema);
  if (known === undefined) envelopes.set(schema, (known = hasEnvelopeForm(schema)));
  return known;
}

function hasEnvelopeForm(schema: Schema): boolean {
  if (schema.name?.endsWith('.Envelope') !== true) return false;
  return ['op', 'after', 'source'].every((name) => schema.field(name) !== undefined);
}
