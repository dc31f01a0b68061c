import type { Schema } from '../../../../src/data/schema.ts';
import { Struct, type ConnectValue } from '../../../../src/data/value.ts';

/** What a record says of a row: what it is now, or that it is gone; `nothing` for events that concern no row. */
export type RowState =
  | { readonly is: 'there'; readonly schema: Schema | null; readonly value: ConnectValue }
  | { readonly is: 'gone' }
  | { readonly is: 'nothing' };

const GONE: RowState = { is: 'gone' };
const NOTHING: RowState = { is: 'nothing' };
const envelopes = new WeakMap<Schema, boolean>();

/**
 * Takes Debezium's change events apart (schema names end in `.Envelope`; Debezium's documentation, "Change event values"): the
 * state after the event is the row, a deletion is one. Truncations and messages concern no row.
 */
export function rowStateOf(schema: Schema | null, value: ConnectValue): RowState {
  if (value === null) return GONE;
  if (schema === null || !(value instanceof Struct) || !isEnvelope(schema)) return { is: 'there', schema, value };
  const after = value.get('after');
  switch (value.get('op')) {
    case 'd':
      return GONE;
    case 'c':
    case 'u':
    case 'r':
      return after === null ? NOTHING : { is: 'there', schema: schema.field('after')?.schema ?? null, value: after };
    default:
      return NOTHING;
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
