import assert from 'node:assert/strict';
import { StructPlan } from '../../../../../src/connect/pipeline/struct-plan.ts';
import { Schema } from '../../../../../src/data/schema.ts';
import { Struct } from '../../../../../src/data/value.ts';
import { ConfigError, DataError } from '../../../../../src/errors.ts';
import { chainOf, event, fieldsOf, PRODUCT_EVENT, product, recordOf, textHeader } from './change-events.ts';

const ROW = Schema.struct([{ name: 'id', schema: new Schema('int64') }], { name: 'row', version: 2 });
const row = () => new Struct(ROW, [1n]);

function headerToValue(headers: string, fields: string, operation: string) {
  return chainOf('HeaderToValue', { headers, fields, operation });
}

describe('HeaderToValue', () => {
  const headers = [textHeader('trace', 't1'), textHeader('other', 'o'), textHeader('tenant', 'acme')];

  it('copies headers to new fields, in the order of the headers, with their schemas', () => {
    const copied = headerToValue('tenant, trace', 'owner, trace_id', 'copy').apply(recordOf(row(), { headers }));
    assert.deepEqual(fieldsOf(copied?.value), { id: 1n, trace_id: 't1', owner: 'acme' });
    assert.deepEqual(copied?.headers, headers);
    const { name, version, fields } = copied.valueSchema ?? ROW;
    assert.deepEqual([name, version, fields.map((field) => field.schema.optional)], ['row', 2, [false, true, true]]);
  });

  it('moves headers: those that are not listed stay', () => {
    const moved = headerToValue('tenant,trace', 'owner,trace_id', 'move').apply(recordOf(row(), { headers }));
    assert.deepEqual(moved?.headers, [headers[1]]);
  });

  it('fills fields of structs, existing and new ones', () => {
    const chain = headerToValue('trace,tenant,other', 'after.trace,context.tenant,name', 'copy');
    const record = recordOf(event('c', { after: product(1n, 'pump') }), { headers });
    const changed = fieldsOf(chain.apply(record)?.value) as Record<string, unknown>;
    assert.deepEqual(changed['after'], { id: 1n, name: 'pump', price: null, trace: 't1' });
    assert.deepEqual(changed['context'], { tenant: 'acme' });
    assert.equal(changed['name'], 'o');
    assert.equal(changed['op'], 'c');
  });

  it('leaves a struct that is null as it is, and optional', () => {
    const chain = headerToValue('trace', 'after.trace', 'copy');
    const changed = chain.apply(recordOf(event('d', { before: product(1n, 'a') }), { headers }));
    assert.equal((fieldsOf(changed?.value) as Record<string, unknown>)['after'], null);
    assert.equal(changed?.valueSchema?.field('after')?.schema.optional, true);
  });

  it('returns the same schema for the same headers', () => {
    const chain = headerToValue('trace', 'trace', 'copy');
    const [first, second] = [1, 2].map(() => chain.apply(recordOf(row(), { headers }))?.valueSchema);
    assert.equal(first, second);
    assert.notEqual(first, ROW);
  });

  it('passes tombstones and records without these headers on unchanged', () => {
    const chain = headerToValue('absent', 'a', 'move');
    for (const record of [recordOf(null, { headers }), recordOf(row(), { headers })]) {
      assert.equal(chain.apply(record), record);
    }
  });

  it('refuses values that are not structs, and fields inside of other values', () => {
    const chain = headerToValue('trace', 'id.trace', 'copy');
    assert.throws(
      () => chain.apply(recordOf('text', { headers })),
      new DataError('Only Struct objects supported for [Header field insertion], found: java.lang.String'),
    );
    assert.throws(
      () => chain.apply(recordOf(row(), { headers })),
      new DataError("Field 'id' is a primitive type, not a struct. Cannot add nested field 'id.trace'."),
    );
  });

  const invalid: [string, string, string, RegExp][] = [
    ['a,b', 'a', 'copy', /^'fields' config must have the same number of elements as 'headers' config\.$/],
    ['a', 'a', 'both', /configuration operation: The 'operation' value is invalid: Value must be one of move, copy$/],
    [
      'a,',
      'b',
      'copy',
      /configuration headers: The 'headers' value is invalid: Empty string element\(s\) not permitted$/,
    ],
    [
      'a',
      'a b',
      'copy',
      /configuration fields: The 'fields' value is invalid: Element\(s\) containing space not permi/,
    ],
    ['', 'b', 'copy', /The 'headers' value is invalid: A value is required$/],
  ];
  for (const [names, fields, operation, message] of invalid) {
    it(`refuses headers=${names}, fields=${fields}, operation=${operation}`, () => {
      assert.throws(
        () => headerToValue(names, fields, operation),
        (error) => error instanceof ConfigError && message.test(error.message),
      );
    });
  }

  it('has a plan for records without headers, and none where the headers are not known', () => {
    const chain = headerToValue('trace', 'trace', 'copy');
    const planned = (hasHeaders: boolean) => chain.plan(new StructPlan('t', PRODUCT_EVENT, hasHeaders));
    assert.equal(planned(false)?.schema, PRODUCT_EVENT);
    assert.equal(planned(true), undefined);
  });
});
