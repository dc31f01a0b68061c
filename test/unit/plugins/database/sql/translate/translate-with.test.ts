import assert from 'node:assert/strict';
import type { TableName } from '../../../../../../src/data/row-batch.ts';
import { translateRefusedWith } from '../../../../../../plugins/database/sql/translate/translate-with.ts';

const UNDEFINED_TABLE = '42P01';

describe('a refused statement that names tables of another database', () => {
  async function lookedUp(count: number): Promise<{ asked: number; text: string | undefined }> {
    const asked: TableName[] = [];
    const refresh = (name: TableName): Promise<undefined> => {
      asked.push(name);
      return Promise.resolve(undefined);
    };
    const names = Array.from({ length: count }, (_, index) => `d.t${String(index)}`);
    const sql = `select * from ${names.join(', ')}`;
    const instead = await translateRefusedWith({ find: refresh, refresh }, 'd', sql, UNDEFINED_TABLE);
    return { asked: asked.length, text: JSON.stringify(instead) };
  }

  it('is translated with one lookup of each table', async () => {
    const { asked, text } = await lookedUp(3);
    assert.equal(asked, 3);
    assert.match(text ?? '', /select \* from t0, t1, t2/);
  });

  it('is left unchanged when it names more than 100, so that it cannot cause thousands of queries', async () => {
    assert.deepEqual(await lookedUp(101), { asked: 0, text: undefined });
  });
});
