import assert from 'node:assert/strict';
import { quotedName, quotedTable } from '../../src/common/sql-names.ts';

describe('a name in a statement', () => {
  it('is quoted if it has other characters than lower-case letters, digits and underscores', () => {
    assert.deepEqual(['orders_2', 'Orders', 'a.b', 'say "x"'].map(quotedName), [
      'orders_2',
      '"Orders"',
      '"a.b"',
      '"say ""x"""',
    ]);
  });

  it('is quoted if it is a reserved word', () => {
    assert.deepEqual(['order', 'user', 'left', 'value'].map(quotedName), ['"order"', '"user"', '"left"', 'value']);
  });

  it('of a table may follow that of its schema', () => {
    assert.deepEqual(['user', 'plant.order', 'plant.a.b'].map(quotedTable), ['"user"', 'plant."order"', 'plant."a.b"']);
  });
});
