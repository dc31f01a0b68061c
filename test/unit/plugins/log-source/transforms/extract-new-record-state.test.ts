import assert from 'node:assert/strict';
import { Schema } from '../../../../../src/data/schema.ts';
import type { SinkRecord } from '../../../../../src/data/record.ts';
import { Struct } from '../../../../../src/data/value.ts';
import { transformedByPlan } from '../../../../support/transformed-by-plan.ts';
import { chainOf, event, fieldsOf, PRODUCT, product, recordOf, textHeader } from './change-events.ts';

const rewrite = { 'delete.tombstone.handling.mode': 'rewrite' };
const created = () => recordOf(event('c', { after: product(1n, 'pump', 2) }));

function droppedFields(names: readonly string[]): SinkRecord['headers'][number] {
  return { key: 'drop', schema: Schema.array(new Schema('string')), value: names };
}

describe('ExtractNewRecordState', () => {
  it('replaces events by the row after them, deletions by tombstones, and drops the tombstones after them', () => {
    const chain = chainOf('ExtractNewRecordState');
    assert.deepEqual(fieldsOf(chain.apply(created())?.value), { id: 1n, name: 'pump', price: 2 });
    assert.equal(chain.apply(recordOf(event('d', { before: product(1n, 'a') })))?.value, null);
    assert.equal(chain.apply(recordOf(null)), null);
    assert.equal(chain.apply(recordOf(event('t'))), null);
    const other = recordOf(product(1n, 'a'));
    assert.equal(chain.apply(other), other);
  });

  describe('drops the fields that a header names', () => {
    const key = new Struct(Schema.struct([{ name: 'id', schema: new Schema('int64') }]), [1n]);
    const apply = (names: readonly string[], options: Readonly<Record<string, string>> = {}) =>
      chainOf('ExtractNewRecordState', { 'drop.fields.header.name': 'drop', ...options }).apply({
        ...created(),
        key,
        keySchema: key.schema,
        headers: [droppedFields(names)],
      });

    it('if they are optional', () => {
      const dropped = apply(['id', 'price', 'absent']);
      assert.deepEqual(fieldsOf(dropped?.value), { id: 1n, name: 'pump' });
      assert.equal(dropped?.valueSchema?.name, PRODUCT.name);
      assert.deepEqual(fieldsOf(dropped?.key), { id: 1n });
    });

    it('and required ones with drop.fields.keep.schema.compatible=false', () => {
      const dropped = apply(['id', 'name'], { 'drop.fields.keep.schema.compatible': 'false' });
      assert.deepEqual(fieldsOf(dropped?.value), { price: 2 });
      assert.deepEqual(fieldsOf(dropped?.key), { id: 1n });
    });

    it('and from the key with drop.fields.from.key', () => {
      const options = { 'drop.fields.keep.schema.compatible': 'false', 'drop.fields.from.key': 'true' };
      assert.deepEqual(fieldsOf(apply(['id'], options)?.key), {});
      assert.deepEqual(fieldsOf(apply(['id'], { 'drop.fields.from.key': 'true' })?.key), { id: 1n });
    });

    it('from old rows with rewrite, and none without the header or with an empty list', () => {
      const chain = chainOf('ExtractNewRecordState', { ...rewrite, 'drop.fields.header.name': 'drop' });
      const deleted = recordOf(event('d', { before: product(1n, 'a') }), { headers: [droppedFields(['name'])] });
      assert.deepEqual(fieldsOf(chain.apply(deleted)?.value), { id: 1n, price: null, __deleted: 'true' });
      const all = { id: 1n, name: 'pump', price: 2, __deleted: 'false' };
      assert.deepEqual(fieldsOf(chain.apply(created())?.value), all);
      assert.deepEqual(fieldsOf(chain.apply({ ...created(), headers: [droppedFields([])] })?.value), all);
    });

    it('with one schema for the same fields', () => {
      const chain = chainOf('ExtractNewRecordState', { 'drop.fields.header.name': 'drop' });
      const headers = [droppedFields(['name'])];
      const [first, second] = [1, 2].map(() => chain.apply({ ...created(), headers })?.valueSchema);
      assert.equal(first, second);
    });
  });

  describe('is planned', () => {
    const cases: [string, Readonly<Record<string, string>>][] = [
      ['without options', {}],
      ['with rewrite', rewrite],
      ['with added fields', { 'add.fields': 'op,source.ts_ms:changed_at,table,transaction.id,before.name,absent' }],
      ['with added headers', { 'add.headers': 'op,source.schema,lsn,transaction.id', 'add.headers.prefix': 'x_' }],
      ['with a route', { 'route.by.field': 'name' }],
      ['with a route by a field of another type', { 'route.by.field': 'id' }],
      ['with a route by a field that does not exist', { 'route.by.field': 'absent' }],
    ];
    const rows = [product(1n, 'pump', 2), product(2n ** 60n, null)];
    for (const [title, options] of cases) {
      it(`${title}, with the result of each record`, () => {
        for (const after of rows) {
          for (const headers of [[], [textHeader('own', 'x')]]) {
            const record = recordOf(event('u', { before: product(1n, 'old'), after }), { headers });
            const chain = chainOf('ExtractNewRecordState', options);
            const planned = transformedByPlan(chain, record);
            assert.ok(planned, 'there is a plan');
            assert.deepEqual(planned, chain.apply(record));
          }
        }
      });
    }

    it('for records that are not events, which stay as they are', () => {
      const record = recordOf(product(1n, 'a'));
      assert.deepEqual(transformedByPlan(chainOf('ExtractNewRecordState'), record), record);
    });

    it('but for events without a row after them, and for fields that headers drop', () => {
      const plain = chainOf('ExtractNewRecordState');
      assert.equal(transformedByPlan(plain, recordOf(event('d', { before: product(1n, 'a') }))), undefined);
      assert.equal(transformedByPlan(plain, recordOf(event('t'))), undefined);
      const dropping = chainOf('ExtractNewRecordState', { 'drop.fields.header.name': 'drop' });
      assert.equal(transformedByPlan(dropping, created()), undefined);
    });
  });
});
