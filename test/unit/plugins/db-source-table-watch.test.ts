import assert from 'node:assert/strict';
import { TableWatch } from '../../../plugins/db-source/table-watch.ts';
import type { Executor } from '../../../plugins/database/index.ts';

describe('the list of the tables of a source', () => {
  it('does not have a table that is dropped while it is read', async () => {
    const table = (name: string) => ({ name: { schema: 'public', name }, columns: [], key: [] });
    const facts = [['public', 'kept', '1', 'r', '[]']];
    const executor = {
      catalogue: { list: () => Promise.resolve([table('dropped'), table('kept')]) },
      session: (work: (session: object) => unknown) => work({ ask: () => Promise.resolve({ rows: facts }) }),
    } as unknown as Executor;
    const tables = await new TableWatch(executor).tables();
    assert.deepEqual(
      tables.map(({ name, oid }) => [name.name, oid]),
      [['kept', '1']],
    );
  });
});
