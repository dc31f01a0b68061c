import assert from 'node:assert/strict';
import { faultTitle } from '../../src/dead-letters/fault-title.ts';

describe('a group of dead letters', () => {
  it('with too long a text says so in words, and has the statement that widens the column', () => {
    const message =
      'column "customer" of table "orders" (character varying(12)): the text has more than the 12 characters that the column takes';
    const fault = { stage: 'TASK_PUT', message, sqlstate: '22001', table: 'orders', column: 'customer' };
    assert.deepEqual(faultTitle(fault), {
      title: 'customer is too long for varchar(12)',
      chips: ['TASK_PUT', '22001', 'orders.customer'],
      fix: 'alter table orders alter column customer type text',
    });
    assert.equal(
      faultTitle({ ...fault, table: 'plant.Orders' }).fix,
      'alter table plant."Orders" alter column customer type text',
    );
    assert.equal(faultTitle(fault, 'site').fix, 'alter table site.orders alter column customer type text');
  });

  it('with another fault has its message, and its class in short', () => {
    assert.deepEqual(faultTitle({ stage: 'VALUE_CONVERTER', message: 'no JSON', class: 'org.x.DataException' }), {
      title: 'no JSON',
      chips: ['VALUE_CONVERTER', 'DataException'],
      fix: undefined,
    });
  });
});
