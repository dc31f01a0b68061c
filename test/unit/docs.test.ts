import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { readmePath, withOptionTables } from '../support/generate-docs.ts';

describe('the README', () => {
  it('has the option tables that the declarations give (npm run docs)', async () => {
    const readme = await readFile(readmePath, 'utf8');
    assert.equal(readme, withOptionTables(readme));
    assert.equal(readme.match(/<!-- options: /g)?.length, 11);
  });
});
